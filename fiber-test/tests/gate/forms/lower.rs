//! A fiber of a program, written once and lowered to a form: `fiber!`, `async`, or an ordinary function that waits.
//!
//! | statement | meaning |
//! |---|---|
//! | `let a = wait(fiber);`, `wait(fiber);` | waits |
//! | `let a = on(shared, f);`, `on(shared, f);` | an access to a variable that fibers share |
//! | `code { .. }` | Rust |
//! | `if (..) { .. }`, `for (..) { .. }`, `loop { .. }` | as in Rust |
//!
//! An access is a step of its own, a fiber that the form waits for; or plain code, followed by a wait for what is ready.

/// `fiber` is what the function of a direct fiber calls its argument.
macro_rules! lower {
    ($form:ident $style:ident $fiber:ident { $($body:tt)* }) => {
        lower!(@ $form $style $fiber [] [] $($body)*)
    };

    // Waits.
    (@ block $style:ident $fiber:ident [$($out:tt)*] $stack:tt let $value:tt = wait($($wait:tt)*); $($rest:tt)*) => {
        lower!(@ block $style $fiber [$($out)* let! $value = $($wait)*;] $stack $($rest)*)
    };
    (@ asynchronous $style:ident $fiber:ident [$($out:tt)*] $stack:tt let $value:tt = wait($($wait:tt)*); $($rest:tt)*) => {
        lower!(@ asynchronous $style $fiber [$($out)* let $value = ($($wait)*).await?;] $stack $($rest)*)
    };
    (@ direct $style:ident $fiber:ident [$($out:tt)*] $stack:tt let $value:tt = wait($($wait:tt)*); $($rest:tt)*) => {
        lower!(@ direct $style $fiber [$($out)* let $value = $fiber.wait($($wait)*)?;] $stack $($rest)*)
    };
    (@ block $style:ident $fiber:ident [$($out:tt)*] $stack:tt wait($($wait:tt)*); $($rest:tt)*) => {
        lower!(@ block $style $fiber [$($out)* do! $($wait)*;] $stack $($rest)*)
    };
    (@ $form:ident $style:ident $fiber:ident $out:tt $stack:tt wait($($wait:tt)*); $($rest:tt)*) => {
        lower!(@ $form $style $fiber $out $stack let _ = wait($($wait)*); $($rest)*)
    };

    // Accesses.
    (@ $form:ident steps $fiber:ident $out:tt $stack:tt let $value:tt = on($shared:ident, $($access:tt)*); $($rest:tt)*) => {
        lower!(@ $form steps $fiber $out $stack let $value = wait($shared.step($($access)*)); $($rest)*)
    };
    (@ $form:ident steps $fiber:ident $out:tt $stack:tt on($shared:ident, $($access:tt)*); $($rest:tt)*) => {
        lower!(@ $form steps $fiber $out $stack wait($shared.step($($access)*)); $($rest)*)
    };
    (@ $form:ident plain $fiber:ident [$($out:tt)*] $stack:tt let $value:tt = on($shared:ident, $($access:tt)*); $($rest:tt)*) => {
        lower!(@ $form plain $fiber [$($out)* let $value = $shared.with($($access)*);] $stack wait(Fiber::success(())); $($rest)*)
    };
    (@ $form:ident plain $fiber:ident [$($out:tt)*] $stack:tt on($shared:ident, $($access:tt)*); $($rest:tt)*) => {
        lower!(@ $form plain $fiber [$($out)* $shared.with($($access)*);] $stack wait(Fiber::success(())); $($rest)*)
    };

    // Rust.
    (@ $form:ident $style:ident $fiber:ident [$($out:tt)*] $stack:tt code { $($code:tt)* } $($rest:tt)*) => {
        lower!(@ $form $style $fiber [$($out)* $($code)*] $stack $($rest)*)
    };
    (@ $form:ident $style:ident $fiber:ident $out:tt [$($stack:tt)*] if ($($head:tt)*) { $($body:tt)* } $($rest:tt)*) => {
        lower!(@ $form $style $fiber [] [{ $out [if $($head)*] [$($rest)*] } $($stack)*] $($body)*)
    };
    (@ $form:ident $style:ident $fiber:ident $out:tt [$($stack:tt)*] for ($($head:tt)*) { $($body:tt)* } $($rest:tt)*) => {
        lower!(@ $form $style $fiber [] [{ $out [for $($head)*] [$($rest)*] } $($stack)*] $($body)*)
    };
    (@ $form:ident $style:ident $fiber:ident $out:tt [$($stack:tt)*] loop { $($body:tt)* } $($rest:tt)*) => {
        lower!(@ $form $style $fiber [] [{ $out [loop] [$($rest)*] } $($stack)*] $($body)*)
    };
    (@ $form:ident $style:ident $fiber:ident [$($body:tt)*] [{ [$($out:tt)*] [$($head:tt)*] [$($rest:tt)*] } $($stack:tt)*]) => {
        lower!(@ $form $style $fiber [$($out)* $($head)* { $($body)* }] [$($stack)*] $($rest)*)
    };

    // The end.
    (@ block $style:ident $fiber:ident [$($out:tt)*] []) => {
        fiber_core::fiber! { $($out)* }
    };
    (@ asynchronous $style:ident $fiber:ident [$($out:tt)*] []) => {
        Fiber::from_future(async move {
            $($out)*
            Ok::<(), fiber_core::Error>(())
        })
        .boxed()
    };
    (@ direct $style:ident $fiber:ident [$($out:tt)*] []) => {
        Fiber::direct(move |$fiber: &fiber_core::Direct<'_>| -> Result<(), fiber_core::Error> {
            $($out)*
            Ok(())
        })
        .boxed()
    };
}

pub(super) use lower;
