//! Written by `generator.rs`: see `main.rs` for how to write it anew.

use super::world::{Async, End, Plain};
use fiber_core::{Error, Fiber, fiber};
fn plain_0(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut b = w.wait(w.check(w.wait(((b).wrapping_mul(6i64)).wrapping_mul((5i64).wrapping_sub(7i64)))?)?)?;
if let Some(mut a) = w.wait_some(w.wait(w.wait(2i64)?)?)?{
let Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; }))? else {return Ok(End::TailCall((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))?;
w.log(4i64);8i64})))};
if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a)?;break 'l1 1i64; });} else {
let g1 = w.noisy(1);{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if (4i64) < (b){return Ok(End::TailCall(w.wait(7i64)?))}}if ((if (4i64) < ((((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64))){
a = a.wrapping_sub(c);
if ((1i64).wrapping_mul(1i64)) < (a){return Ok(End::TailCall((match (b).wrapping_add((2i64).wrapping_sub(a)){0 | 3 => {
let (mut a, [mut b, ..]) = w.wait_pair(a)?;a}n @ 1..=5 if n > 2 => {
b = b.wrapping_sub(7i64);
let mut b = ((6i64).wrapping_add(a)).wrapping_sub(c);((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))}n if n < a => {
let mut a = 7i64;6i64}_ => {
let mut b = w.wait(b)?;a}})))}7i64} else {
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))})) > (7i64){ drop(g1); }}}
let _g2 = w.noisy(2);
if let Some(mut b) = w.wait_some((w.check(3i64)?).wrapping_sub(w.wait((c).wrapping_add(a))?))?{}Ok(End::Value(((if (c) > (b){
b = b.wrapping_add((4i64).wrapping_add(b));
b = b.wrapping_sub(b);a} else {
c = c.wrapping_add((7i64).wrapping_sub(2i64));0i64})).wrapping_sub(w.wait(a)?))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut b = w.wait(w.check(w.wait(((b).wrapping_mul(6i64)).wrapping_mul((5i64).wrapping_sub(7i64))).await?)?).await?;
if let Some(mut a) = w.wait_some(w.wait(w.wait(2i64).await?).await?).await?{
let Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; })).await? else {return Ok(End::TailCall((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))).await?;
w.log(4i64);8i64})))};
if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;break 'l1 1i64; });} else {
let g1 = w.noisy(1);{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if (4i64) < (b){return Ok(End::TailCall(w.wait(7i64).await?))}}if ((if (4i64) < ((((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64))){
a = a.wrapping_sub(c);
if ((1i64).wrapping_mul(1i64)) < (a){return Ok(End::TailCall((match (b).wrapping_add((2i64).wrapping_sub(a)){0 | 3 => {
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;a}n @ 1..=5 if n > 2 => {
b = b.wrapping_sub(7i64);
let mut b = ((6i64).wrapping_add(a)).wrapping_sub(c);((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))}n if n < a => {
let mut a = 7i64;6i64}_ => {
let mut b = w.wait(b).await?;a}})))}7i64} else {
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))})) > (7i64){ drop(g1); }}}
let _g2 = w.noisy(2);
if let Some(mut b) = w.wait_some((w.check(3i64)?).wrapping_sub(w.wait((c).wrapping_add(a)).await?)).await?{}Ok(End::Value(((if (c) > (b){
b = b.wrapping_add((4i64).wrapping_add(b));
b = b.wrapping_sub(b);a} else {
c = c.wrapping_add((7i64).wrapping_sub(2i64));0i64})).wrapping_sub(w.wait(a).await?))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut b = (do! w.wait(w.check((do! w.wait(((b).wrapping_mul(6i64)).wrapping_mul((5i64).wrapping_sub(7i64)))))?));
if let Some(mut a) = (do! w.wait_some((do! w.wait((do! w.wait(2i64)))))){
let! Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; })) else {return! w.wait((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let! mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))));
w.log(4i64);8i64}))};
if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let! (mut a, [mut b, ..]) = w.wait_pair(a);break 'l1 1i64; });} else {
let g1 = w.noisy(1);{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if (4i64) < (b){return! w.wait((do! w.wait(7i64)))}}if ((if (4i64) < ((((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64))){
a = a.wrapping_sub(c);
if ((1i64).wrapping_mul(1i64)) < (a){return! w.wait((match (b).wrapping_add((2i64).wrapping_sub(a)){0 | 3 => {
let! (mut a, [mut b, ..]) = w.wait_pair(a);a}n @ 1..=5 if n > 2 => {
b = b.wrapping_sub(7i64);
let mut b = ((6i64).wrapping_add(a)).wrapping_sub(c);((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))}n if n < a => {
let mut a = 7i64;6i64}_ => {
let! mut b = w.wait(b);a}}))}7i64} else {
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))})) > (7i64){ drop(g1); }}}
let _g2 = w.noisy(2);
if let Some(mut b) = (do! w.wait_some((w.check(3i64)?).wrapping_sub((do! w.wait((c).wrapping_add(a)))))){}((if (c) > (b){
b = b.wrapping_add((4i64).wrapping_add(b));
b = b.wrapping_sub(b);a} else {
c = c.wrapping_add((7i64).wrapping_sub(2i64));0i64})).wrapping_sub((do! w.wait(a)))} }
fn plain_1(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let (mut a, [mut b, ..]) = w.wait_pair(w.check(w.wait(((b).wrapping_mul(6i64)).wrapping_mul((5i64).wrapping_sub(7i64)))?)?)?;
if let Some(mut a) = w.wait_some(w.wait(w.wait(2i64)?)?)?{
let Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; }))? else {return Ok(End::TailCall((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))?;
w.log(4i64);8i64})))};
if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a)?;break 'l1 1i64; });} else {
let g1 = w.noisy(1);{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if (4i64) < (b){return Ok(End::TailCall(w.wait(7i64)?))}}if ((if (4i64) < ((((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64))){
a = a.wrapping_sub(c);
if ((1i64).wrapping_mul(1i64)) < (a){return Ok(End::TailCall((match (b).wrapping_add((2i64).wrapping_sub(a)){0 | 3 => {
let (mut a, [mut b, ..]) = w.wait_pair(a)?;a}n @ 1..=5 if n > 2 => {
b = b.wrapping_sub(7i64);
let mut b = ((6i64).wrapping_add(a)).wrapping_sub(c);((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))}n if n < a => {
let mut a = 7i64;6i64}_ => {
let mut b = w.wait(b)?;a}})))}7i64} else {
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))})) > (7i64){ drop(g1); }}}
let _g2 = w.noisy(2);
if let Some(mut b) = w.wait_some((w.check(3i64)?).wrapping_sub(w.wait((c).wrapping_add(a))?))?{}Ok(End::Value(((if (c) > (b){
b = b.wrapping_add((4i64).wrapping_add(b));
b = b.wrapping_sub(b);a} else {
c = c.wrapping_add((7i64).wrapping_sub(2i64));0i64})).wrapping_sub(w.wait(a)?))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let (mut a, [mut b, ..]) = w.wait_pair(w.check(w.wait(((b).wrapping_mul(6i64)).wrapping_mul((5i64).wrapping_sub(7i64))).await?)?).await?;
if let Some(mut a) = w.wait_some(w.wait(w.wait(2i64).await?).await?).await?{
let Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; })).await? else {return Ok(End::TailCall((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))).await?;
w.log(4i64);8i64})))};
if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;break 'l1 1i64; });} else {
let g1 = w.noisy(1);{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if (4i64) < (b){return Ok(End::TailCall(w.wait(7i64).await?))}}if ((if (4i64) < ((((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64))){
a = a.wrapping_sub(c);
if ((1i64).wrapping_mul(1i64)) < (a){return Ok(End::TailCall((match (b).wrapping_add((2i64).wrapping_sub(a)){0 | 3 => {
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;a}n @ 1..=5 if n > 2 => {
b = b.wrapping_sub(7i64);
let mut b = ((6i64).wrapping_add(a)).wrapping_sub(c);((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))}n if n < a => {
let mut a = 7i64;6i64}_ => {
let mut b = w.wait(b).await?;a}})))}7i64} else {
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))})) > (7i64){ drop(g1); }}}
let _g2 = w.noisy(2);
if let Some(mut b) = w.wait_some((w.check(3i64)?).wrapping_sub(w.wait((c).wrapping_add(a)).await?)).await?{}Ok(End::Value(((if (c) > (b){
b = b.wrapping_add((4i64).wrapping_add(b));
b = b.wrapping_sub(b);a} else {
c = c.wrapping_add((7i64).wrapping_sub(2i64));0i64})).wrapping_sub(w.wait(a).await?))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let! (mut a, [mut b, ..]) = w.wait_pair(w.check((do! w.wait(((b).wrapping_mul(6i64)).wrapping_mul((5i64).wrapping_sub(7i64)))))?);
if let Some(mut a) = (do! w.wait_some((do! w.wait((do! w.wait(2i64)))))){
let! Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; })) else {return! w.wait((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let! mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))));
w.log(4i64);8i64}))};
if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let! (mut a, [mut b, ..]) = w.wait_pair(a);break 'l1 1i64; });} else {
let g1 = w.noisy(1);{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if (4i64) < (b){return! w.wait((do! w.wait(7i64)))}}if ((if (4i64) < ((((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64))){
a = a.wrapping_sub(c);
if ((1i64).wrapping_mul(1i64)) < (a){return! w.wait((match (b).wrapping_add((2i64).wrapping_sub(a)){0 | 3 => {
let! (mut a, [mut b, ..]) = w.wait_pair(a);a}n @ 1..=5 if n > 2 => {
b = b.wrapping_sub(7i64);
let mut b = ((6i64).wrapping_add(a)).wrapping_sub(c);((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))}n if n < a => {
let mut a = 7i64;6i64}_ => {
let! mut b = w.wait(b);a}}))}7i64} else {
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))})) > (7i64){ drop(g1); }}}
let _g2 = w.noisy(2);
if let Some(mut b) = (do! w.wait_some((w.check(3i64)?).wrapping_sub((do! w.wait((c).wrapping_add(a)))))){}((if (c) > (b){
b = b.wrapping_add((4i64).wrapping_add(b));
b = b.wrapping_sub(b);a} else {
c = c.wrapping_add((7i64).wrapping_sub(2i64));0i64})).wrapping_sub((do! w.wait(a)))} }
fn plain_2(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let (mut a, [mut c, ..]) = w.wait_pair(w.wait(w.wait(((a).wrapping_sub(2i64)).wrapping_mul(a))?)?)?;
a = a.wrapping_add(w.wait((match w.wait(a)?{0 | 3 => {
let _g1 = w.noisy(1);
{
let (mut a, [mut c, ..]) = w.wait_pair(6i64)?;}b}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l0: while let Some(mut c) = stack.pop() { if w.is_tired() { break }}
let mut a = (if (1i64) > (a){c} else {
let mut a = 5i64;4i64});4i64}n if n < a => {7i64}_ => {
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = w.wait(4i64)?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
'l1: for mut a in 0..3i64 { w.log(a);
let mut c = (b).wrapping_mul(7i64);}0i64}}))?);
let mut stack = vec![a, b]; 'l2: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
let mut c = ({w.wait(6i64)?});
if (w.wait(w.wait(2i64)?)?) > (w.check(6i64)?){return Ok(End::Value(w.wait(b)?))}
{}
if ((if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l3: loop { if w.is_tired() { break 'l3 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a)?;break 'l3 1i64; });c} else {
'l4: while !w.is_tired() && ((c).wrapping_add(c)) < ((6i64).wrapping_mul(b)){
w.log((a).wrapping_mul((c).wrapping_add(6i64)));
let (mut a, [mut c, ..]) = w.wait_pair((c).wrapping_sub((a).wrapping_add(b)))?;}
if let Some(mut a) = w.wait_some((b).wrapping_add((2i64).wrapping_sub(a)))?{
let (mut a, [mut b, ..]) = w.wait_pair(a)?;}a})) > (({
if (b) < (c){return Ok(End::TailCall(c))}6i64})){
if let Some(mut b) = w.wait_some(w.wait(((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64)))?)?{
a = w.wait(6i64)?;}} else {
if (w.wait(b)?) < (8i64){return Ok(End::TailCall(w.wait(c)?))}}
w.log(w.check(({
if ((a).wrapping_sub(1i64)) > (3i64){
let g2 = w.noisy(2);{
if ((7i64).wrapping_add(a)) < (a){return Ok(End::TailCall(w.check((2i64).wrapping_add((a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64))))?))}
w.log((c).wrapping_sub((4i64).wrapping_mul(6i64)));}if ((a).wrapping_mul(c)) > (3i64){ drop(g2); }
a = a.wrapping_add(c);} else {}5i64}))?);Ok(End::Value(('l5: loop { if w.is_tired() { break 'l5 0i64 }break 'l5 b; }))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let (mut a, [mut c, ..]) = w.wait_pair(w.wait(w.wait(((a).wrapping_sub(2i64)).wrapping_mul(a)).await?).await?).await?;
a = a.wrapping_add(w.wait((match w.wait(a).await?{0 | 3 => {
let _g1 = w.noisy(1);
{
let (mut a, [mut c, ..]) = w.wait_pair(6i64).await?;}b}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l0: while let Some(mut c) = stack.pop() { if w.is_tired() { break }}
let mut a = (if (1i64) > (a){c} else {
let mut a = 5i64;4i64});4i64}n if n < a => {7i64}_ => {
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = w.wait(4i64).await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
'l1: for mut a in 0..3i64 { w.log(a);
let mut c = (b).wrapping_mul(7i64);}0i64}})).await?);
let mut stack = vec![a, b]; 'l2: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
let mut c = ({w.wait(6i64).await?});
if (w.wait(w.wait(2i64).await?).await?) > (w.check(6i64)?){return Ok(End::Value(w.wait(b).await?))}
{}
if ((if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l3: loop { if w.is_tired() { break 'l3 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;break 'l3 1i64; });c} else {
'l4: while !w.is_tired() && ((c).wrapping_add(c)) < ((6i64).wrapping_mul(b)){
w.log((a).wrapping_mul((c).wrapping_add(6i64)));
let (mut a, [mut c, ..]) = w.wait_pair((c).wrapping_sub((a).wrapping_add(b))).await?;}
if let Some(mut a) = w.wait_some((b).wrapping_add((2i64).wrapping_sub(a))).await?{
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;}a})) > (({
if (b) < (c){return Ok(End::TailCall(c))}6i64})){
if let Some(mut b) = w.wait_some(w.wait(((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))).await?).await?{
a = w.wait(6i64).await?;}} else {
if (w.wait(b).await?) < (8i64){return Ok(End::TailCall(w.wait(c).await?))}}
w.log(w.check(({
if ((a).wrapping_sub(1i64)) > (3i64){
let g2 = w.noisy(2);{
if ((7i64).wrapping_add(a)) < (a){return Ok(End::TailCall(w.check((2i64).wrapping_add((a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64))))?))}
w.log((c).wrapping_sub((4i64).wrapping_mul(6i64)));}if ((a).wrapping_mul(c)) > (3i64){ drop(g2); }
a = a.wrapping_add(c);} else {}5i64}))?);Ok(End::Value(('l5: loop { if w.is_tired() { break 'l5 0i64 }break 'l5 b; }))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let! (mut a, [mut c, ..]) = w.wait_pair((do! w.wait((do! w.wait(((a).wrapping_sub(2i64)).wrapping_mul(a))))));
a = a.wrapping_add((do! w.wait((match (do! w.wait(a)){0 | 3 => {
let _g1 = w.noisy(1);
{
let! (mut a, [mut c, ..]) = w.wait_pair(6i64);}b}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l0: while let Some(mut c) = stack.pop() { if w.is_tired() { break }}
let mut a = (if (1i64) > (a){c} else {
let mut a = 5i64;4i64});4i64}n if n < a => {7i64}_ => {
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
'l1: for mut a in 0..3i64 { w.log(a);
let mut c = (b).wrapping_mul(7i64);}0i64}}))));
let mut stack = vec![a, b]; 'l2: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
let mut c = ({(do! w.wait(6i64))});
if ((do! w.wait((do! w.wait(2i64))))) > (w.check(6i64)?){return ((do! w.wait(b)))}
{}
if ((if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l3: loop { if w.is_tired() { break 'l3 0i64 }
let! (mut a, [mut b, ..]) = w.wait_pair(a);break 'l3 1i64; });c} else {
'l4: while !w.is_tired() && ((c).wrapping_add(c)) < ((6i64).wrapping_mul(b)){
w.log((a).wrapping_mul((c).wrapping_add(6i64)));
let! (mut a, [mut c, ..]) = w.wait_pair((c).wrapping_sub((a).wrapping_add(b)));}
if let Some(mut a) = (do! w.wait_some((b).wrapping_add((2i64).wrapping_sub(a)))){
let! (mut a, [mut b, ..]) = w.wait_pair(a);}a})) > (({
if (b) < (c){return! w.wait(c)}6i64})){
if let Some(mut b) = (do! w.wait_some((do! w.wait(((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64)))))){
a = (do! w.wait(6i64));}} else {
if ((do! w.wait(b))) < (8i64){return! w.wait((do! w.wait(c)))}}
w.log(w.check(({
if ((a).wrapping_sub(1i64)) > (3i64){
let g2 = w.noisy(2);{
if ((7i64).wrapping_add(a)) < (a){return! w.wait(w.check((2i64).wrapping_add((a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64))))?)}
w.log((c).wrapping_sub((4i64).wrapping_mul(6i64)));}if ((a).wrapping_mul(c)) > (3i64){ drop(g2); }
a = a.wrapping_add(c);} else {}5i64}))?);('l5: loop { if w.is_tired() { break 'l5 0i64 }break 'l5 b; })} }
fn plain_3(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let Some(mut a) = w.wait_some(w.wait((if ((a).wrapping_sub(2i64)) > (a){
if (6i64) < (4i64){return Ok(End::TailCall((match (b).wrapping_mul(b){0 | 3 => {
let (mut a, [mut c, ..]) = w.wait_pair(b)?;
a = a.wrapping_sub(6i64);5i64}n @ 1..=5 if n > 2 => {1i64}n if n < a => {
let mut a = c;a}_ => {5i64}})))}
let mut a = w.wait(a)?;7i64} else {
w.log(7i64);
if (c) < (((a).wrapping_sub(a)).wrapping_mul(6i64)){return Ok(End::TailCall(w.wait(0i64)?))}(2i64).wrapping_add(6i64)}))?)? else {return Ok(End::Value(w.wait((0i64).wrapping_add((6i64).wrapping_sub(b)))?))};
w.log(a);
if ((if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l0: loop { if w.is_tired() { break 'l0 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a)?;break 'l0 1i64; });c} else {
'l1: while !w.is_tired() && ((c).wrapping_add(c)) < ((6i64).wrapping_mul(b)){
w.log((a).wrapping_mul((c).wrapping_add(6i64)));
let (mut a, [mut c, ..]) = w.wait_pair((c).wrapping_sub((a).wrapping_add(b)))?;}
if let Some(mut a) = w.wait_some((b).wrapping_add((2i64).wrapping_sub(a)))?{
let (mut a, [mut b, ..]) = w.wait_pair(a)?;}a})) > (({
if (b) < (c){return Ok(End::TailCall(c))}6i64})){
if let Some(mut b) = w.wait_some(w.wait(((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64)))?)?{
a = w.wait(6i64)?;}} else {
if (w.wait(b)?) < (8i64){return Ok(End::TailCall(w.wait(c)?))}}
w.log(w.check(({
if ((a).wrapping_sub(1i64)) > (3i64){
let g1 = w.noisy(1);{
if ((7i64).wrapping_add(a)) < (a){return Ok(End::TailCall(w.check((2i64).wrapping_add((a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64))))?))}
w.log((c).wrapping_sub((4i64).wrapping_mul(6i64)));}if ((a).wrapping_mul(c)) > (3i64){ drop(g1); }
a = a.wrapping_add(c);} else {}5i64}))?);
let Some(mut a) = w.wait_some(('l2: loop { if w.is_tired() { break 'l2 0i64 }
let mut a = w.wait(7i64)?;break 'l2 c; }))? else {return Ok(End::Value(w.check(4i64)?))};
let mut b = w.wait((match w.wait(5i64)?{0 | 3 => {c}n @ 1..=5 if n > 2 => {
if (((c).wrapping_sub(b)).wrapping_sub((b).wrapping_add((4i64).wrapping_add(b)))) > (((b).wrapping_sub(4i64)).wrapping_sub(c)){return Ok(End::TailCall(('l3: loop { if w.is_tired() { break 'l3 0i64 }
w.log(7i64);
let (mut a, [mut b, ..]) = w.wait_pair(0i64)?;break 'l3 7i64; })))}0i64}n if n < a => {
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let got = w.wait(4i64)?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
let g2 = w.noisy(2);{
w.log(a);
let (mut a, [mut b, ..]) = w.wait_pair(c)?;}if (a) < (2i64){ drop(g2); }3i64}_ => {
let mut stack = vec![a, b]; 'l4: while let Some(mut a) = stack.pop() { if w.is_tired() { break }}
'l5: while !w.is_tired() && ((c).wrapping_sub(5i64)) > (b){}a}}))?;
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = w.wait(4i64)?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
let (mut a, [mut c, ..]) = w.wait_pair(('l6: loop { if w.is_tired() { break 'l6 0i64 }
if let Some(mut a) = w.wait_some(1i64)?{
let mut b = 4i64;
if ((0i64).wrapping_sub(7i64)) < ((5i64).wrapping_add(2i64)){continue 'l6}}
{
w.log((b).wrapping_mul(2i64));
let mut a = a;}break 'l6 b; }))?;Ok(End::Value(({
if let Some(mut b) = w.wait_some(a)?{}
if let Some(mut a) = w.wait_some(0i64)?{}1i64}))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let Some(mut a) = w.wait_some(w.wait((if ((a).wrapping_sub(2i64)) > (a){
if (6i64) < (4i64){return Ok(End::TailCall((match (b).wrapping_mul(b){0 | 3 => {
let (mut a, [mut c, ..]) = w.wait_pair(b).await?;
a = a.wrapping_sub(6i64);5i64}n @ 1..=5 if n > 2 => {1i64}n if n < a => {
let mut a = c;a}_ => {5i64}})))}
let mut a = w.wait(a).await?;7i64} else {
w.log(7i64);
if (c) < (((a).wrapping_sub(a)).wrapping_mul(6i64)){return Ok(End::TailCall(w.wait(0i64).await?))}(2i64).wrapping_add(6i64)})).await?).await? else {return Ok(End::Value(w.wait((0i64).wrapping_add((6i64).wrapping_sub(b))).await?))};
w.log(a);
if ((if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l0: loop { if w.is_tired() { break 'l0 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;break 'l0 1i64; });c} else {
'l1: while !w.is_tired() && ((c).wrapping_add(c)) < ((6i64).wrapping_mul(b)){
w.log((a).wrapping_mul((c).wrapping_add(6i64)));
let (mut a, [mut c, ..]) = w.wait_pair((c).wrapping_sub((a).wrapping_add(b))).await?;}
if let Some(mut a) = w.wait_some((b).wrapping_add((2i64).wrapping_sub(a))).await?{
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;}a})) > (({
if (b) < (c){return Ok(End::TailCall(c))}6i64})){
if let Some(mut b) = w.wait_some(w.wait(((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))).await?).await?{
a = w.wait(6i64).await?;}} else {
if (w.wait(b).await?) < (8i64){return Ok(End::TailCall(w.wait(c).await?))}}
w.log(w.check(({
if ((a).wrapping_sub(1i64)) > (3i64){
let g1 = w.noisy(1);{
if ((7i64).wrapping_add(a)) < (a){return Ok(End::TailCall(w.check((2i64).wrapping_add((a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64))))?))}
w.log((c).wrapping_sub((4i64).wrapping_mul(6i64)));}if ((a).wrapping_mul(c)) > (3i64){ drop(g1); }
a = a.wrapping_add(c);} else {}5i64}))?);
let Some(mut a) = w.wait_some(('l2: loop { if w.is_tired() { break 'l2 0i64 }
let mut a = w.wait(7i64).await?;break 'l2 c; })).await? else {return Ok(End::Value(w.check(4i64)?))};
let mut b = w.wait((match w.wait(5i64).await?{0 | 3 => {c}n @ 1..=5 if n > 2 => {
if (((c).wrapping_sub(b)).wrapping_sub((b).wrapping_add((4i64).wrapping_add(b)))) > (((b).wrapping_sub(4i64)).wrapping_sub(c)){return Ok(End::TailCall(('l3: loop { if w.is_tired() { break 'l3 0i64 }
w.log(7i64);
let (mut a, [mut b, ..]) = w.wait_pair(0i64).await?;break 'l3 7i64; })))}0i64}n if n < a => {
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let got = w.wait(4i64).await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
let g2 = w.noisy(2);{
w.log(a);
let (mut a, [mut b, ..]) = w.wait_pair(c).await?;}if (a) < (2i64){ drop(g2); }3i64}_ => {
let mut stack = vec![a, b]; 'l4: while let Some(mut a) = stack.pop() { if w.is_tired() { break }}
'l5: while !w.is_tired() && ((c).wrapping_sub(5i64)) > (b){}a}})).await?;
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = w.wait(4i64).await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
let (mut a, [mut c, ..]) = w.wait_pair(('l6: loop { if w.is_tired() { break 'l6 0i64 }
if let Some(mut a) = w.wait_some(1i64).await?{
let mut b = 4i64;
if ((0i64).wrapping_sub(7i64)) < ((5i64).wrapping_add(2i64)){continue 'l6}}
{
w.log((b).wrapping_mul(2i64));
let mut a = a;}break 'l6 b; })).await?;Ok(End::Value(({
if let Some(mut b) = w.wait_some(a).await?{}
if let Some(mut a) = w.wait_some(0i64).await?{}1i64}))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let! Some(mut a) = w.wait_some((do! w.wait((if ((a).wrapping_sub(2i64)) > (a){
if (6i64) < (4i64){return! w.wait((match (b).wrapping_mul(b){0 | 3 => {
let! (mut a, [mut c, ..]) = w.wait_pair(b);
a = a.wrapping_sub(6i64);5i64}n @ 1..=5 if n > 2 => {1i64}n if n < a => {
let mut a = c;a}_ => {5i64}}))}
let! mut a = w.wait(a);7i64} else {
w.log(7i64);
if (c) < (((a).wrapping_sub(a)).wrapping_mul(6i64)){return! w.wait((do! w.wait(0i64)))}(2i64).wrapping_add(6i64)})))) else {return ((do! w.wait((0i64).wrapping_add((6i64).wrapping_sub(b)))))};
w.log(a);
if ((if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l0: loop { if w.is_tired() { break 'l0 0i64 }
let! (mut a, [mut b, ..]) = w.wait_pair(a);break 'l0 1i64; });c} else {
'l1: while !w.is_tired() && ((c).wrapping_add(c)) < ((6i64).wrapping_mul(b)){
w.log((a).wrapping_mul((c).wrapping_add(6i64)));
let! (mut a, [mut c, ..]) = w.wait_pair((c).wrapping_sub((a).wrapping_add(b)));}
if let Some(mut a) = (do! w.wait_some((b).wrapping_add((2i64).wrapping_sub(a)))){
let! (mut a, [mut b, ..]) = w.wait_pair(a);}a})) > (({
if (b) < (c){return! w.wait(c)}6i64})){
if let Some(mut b) = (do! w.wait_some((do! w.wait(((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64)))))){
a = (do! w.wait(6i64));}} else {
if ((do! w.wait(b))) < (8i64){return! w.wait((do! w.wait(c)))}}
w.log(w.check(({
if ((a).wrapping_sub(1i64)) > (3i64){
let g1 = w.noisy(1);{
if ((7i64).wrapping_add(a)) < (a){return! w.wait(w.check((2i64).wrapping_add((a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64))))?)}
w.log((c).wrapping_sub((4i64).wrapping_mul(6i64)));}if ((a).wrapping_mul(c)) > (3i64){ drop(g1); }
a = a.wrapping_add(c);} else {}5i64}))?);
let! Some(mut a) = w.wait_some(('l2: loop { if w.is_tired() { break 'l2 0i64 }
let! mut a = w.wait(7i64);break 'l2 c; })) else {return (w.check(4i64)?)};
let! mut b = w.wait((match (do! w.wait(5i64)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
if (((c).wrapping_sub(b)).wrapping_sub((b).wrapping_add((4i64).wrapping_add(b)))) > (((b).wrapping_sub(4i64)).wrapping_sub(c)){return! w.wait(('l3: loop { if w.is_tired() { break 'l3 0i64 }
w.log(7i64);
let! (mut a, [mut b, ..]) = w.wait_pair(0i64);break 'l3 7i64; }))}0i64}n if n < a => {
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
let g2 = w.noisy(2);{
w.log(a);
let! (mut a, [mut b, ..]) = w.wait_pair(c);}if (a) < (2i64){ drop(g2); }3i64}_ => {
let mut stack = vec![a, b]; 'l4: while let Some(mut a) = stack.pop() { if w.is_tired() { break }}
'l5: while !w.is_tired() && ((c).wrapping_sub(5i64)) > (b){}a}}));
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
let! (mut a, [mut c, ..]) = w.wait_pair(('l6: loop { if w.is_tired() { break 'l6 0i64 }
if let Some(mut a) = (do! w.wait_some(1i64)){
let mut b = 4i64;
if ((0i64).wrapping_sub(7i64)) < ((5i64).wrapping_add(2i64)){continue 'l6}}
{
w.log((b).wrapping_mul(2i64));
let mut a = a;}break 'l6 b; }));({
if let Some(mut b) = (do! w.wait_some(a)){}
if let Some(mut a) = (do! w.wait_some(0i64)){}1i64})} }
fn plain_4(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut c = (if ((('l0: loop { if w.is_tired() { break 'l0 0i64 }break 'l0 2i64; })).wrapping_sub(w.check(5i64)?)) > (7i64){(match 4i64{0 | 3 => {(b).wrapping_mul(b)}n @ 1..=5 if n > 2 => {
let (mut a, [mut c, ..]) = w.wait_pair(b)?;
a = a.wrapping_sub(6i64);5i64}n if n < a => {1i64}_ => {
let mut a = c;a}})} else {5i64});
if let Some(mut b) = w.wait_some(w.wait(w.check(6i64)?)?)?{
let g1 = w.noisy(1);{
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = w.wait(4i64)?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
if (6i64) > (8i64){return Ok(End::TailCall(w.wait(0i64)?))}}if (('l1: loop { if w.is_tired() { break 'l1 0i64 }break 'l1 (((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64); })) > (0i64){ drop(g1); }}
let mut a = w.wait(w.wait(w.wait(b)?)?)?;
w.log(a);
if ((if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l2: loop { if w.is_tired() { break 'l2 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a)?;break 'l2 1i64; });c} else {
'l3: while !w.is_tired() && ((c).wrapping_add(c)) < ((6i64).wrapping_mul(b)){
w.log((a).wrapping_mul((c).wrapping_add(6i64)));
let (mut a, [mut c, ..]) = w.wait_pair((c).wrapping_sub((a).wrapping_add(b)))?;}
if let Some(mut a) = w.wait_some((b).wrapping_add((2i64).wrapping_sub(a)))?{
let (mut a, [mut b, ..]) = w.wait_pair(a)?;}a})) > (({
if (b) < (c){return Ok(End::TailCall(c))}6i64})){
if let Some(mut b) = w.wait_some(w.wait(((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64)))?)?{
a = w.wait(6i64)?;}} else {
if (w.wait(b)?) < (8i64){return Ok(End::TailCall(w.wait(c)?))}}
w.log(w.check(({
if ((a).wrapping_sub(1i64)) > (3i64){
let g2 = w.noisy(2);{
if ((7i64).wrapping_add(a)) < (a){return Ok(End::TailCall(w.check((2i64).wrapping_add((a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64))))?))}
w.log((c).wrapping_sub((4i64).wrapping_mul(6i64)));}if ((a).wrapping_mul(c)) > (3i64){ drop(g2); }
a = a.wrapping_add(c);} else {}5i64}))?);Ok(End::Value(('l4: loop { if w.is_tired() { break 'l4 0i64 }break 'l4 b; }))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut c = (if ((('l0: loop { if w.is_tired() { break 'l0 0i64 }break 'l0 2i64; })).wrapping_sub(w.check(5i64)?)) > (7i64){(match 4i64{0 | 3 => {(b).wrapping_mul(b)}n @ 1..=5 if n > 2 => {
let (mut a, [mut c, ..]) = w.wait_pair(b).await?;
a = a.wrapping_sub(6i64);5i64}n if n < a => {1i64}_ => {
let mut a = c;a}})} else {5i64});
if let Some(mut b) = w.wait_some(w.wait(w.check(6i64)?).await?).await?{
let g1 = w.noisy(1);{
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = w.wait(4i64).await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
if (6i64) > (8i64){return Ok(End::TailCall(w.wait(0i64).await?))}}if (('l1: loop { if w.is_tired() { break 'l1 0i64 }break 'l1 (((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64); })) > (0i64){ drop(g1); }}
let mut a = w.wait(w.wait(w.wait(b).await?).await?).await?;
w.log(a);
if ((if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l2: loop { if w.is_tired() { break 'l2 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;break 'l2 1i64; });c} else {
'l3: while !w.is_tired() && ((c).wrapping_add(c)) < ((6i64).wrapping_mul(b)){
w.log((a).wrapping_mul((c).wrapping_add(6i64)));
let (mut a, [mut c, ..]) = w.wait_pair((c).wrapping_sub((a).wrapping_add(b))).await?;}
if let Some(mut a) = w.wait_some((b).wrapping_add((2i64).wrapping_sub(a))).await?{
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;}a})) > (({
if (b) < (c){return Ok(End::TailCall(c))}6i64})){
if let Some(mut b) = w.wait_some(w.wait(((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))).await?).await?{
a = w.wait(6i64).await?;}} else {
if (w.wait(b).await?) < (8i64){return Ok(End::TailCall(w.wait(c).await?))}}
w.log(w.check(({
if ((a).wrapping_sub(1i64)) > (3i64){
let g2 = w.noisy(2);{
if ((7i64).wrapping_add(a)) < (a){return Ok(End::TailCall(w.check((2i64).wrapping_add((a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64))))?))}
w.log((c).wrapping_sub((4i64).wrapping_mul(6i64)));}if ((a).wrapping_mul(c)) > (3i64){ drop(g2); }
a = a.wrapping_add(c);} else {}5i64}))?);Ok(End::Value(('l4: loop { if w.is_tired() { break 'l4 0i64 }break 'l4 b; }))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut c = (if ((('l0: loop { if w.is_tired() { break 'l0 0i64 }break 'l0 2i64; })).wrapping_sub(w.check(5i64)?)) > (7i64){(match 4i64{0 | 3 => {(b).wrapping_mul(b)}n @ 1..=5 if n > 2 => {
let! (mut a, [mut c, ..]) = w.wait_pair(b);
a = a.wrapping_sub(6i64);5i64}n if n < a => {1i64}_ => {
let mut a = c;a}})} else {5i64});
if let Some(mut b) = (do! w.wait_some((do! w.wait(w.check(6i64)?)))){
let g1 = w.noisy(1);{
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
if (6i64) > (8i64){return! w.wait((do! w.wait(0i64)))}}if (('l1: loop { if w.is_tired() { break 'l1 0i64 }break 'l1 (((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64); })) > (0i64){ drop(g1); }}
let! mut a = w.wait((do! w.wait((do! w.wait(b)))));
w.log(a);
if ((if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l2: loop { if w.is_tired() { break 'l2 0i64 }
let! (mut a, [mut b, ..]) = w.wait_pair(a);break 'l2 1i64; });c} else {
'l3: while !w.is_tired() && ((c).wrapping_add(c)) < ((6i64).wrapping_mul(b)){
w.log((a).wrapping_mul((c).wrapping_add(6i64)));
let! (mut a, [mut c, ..]) = w.wait_pair((c).wrapping_sub((a).wrapping_add(b)));}
if let Some(mut a) = (do! w.wait_some((b).wrapping_add((2i64).wrapping_sub(a)))){
let! (mut a, [mut b, ..]) = w.wait_pair(a);}a})) > (({
if (b) < (c){return! w.wait(c)}6i64})){
if let Some(mut b) = (do! w.wait_some((do! w.wait(((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64)))))){
a = (do! w.wait(6i64));}} else {
if ((do! w.wait(b))) < (8i64){return! w.wait((do! w.wait(c)))}}
w.log(w.check(({
if ((a).wrapping_sub(1i64)) > (3i64){
let g2 = w.noisy(2);{
if ((7i64).wrapping_add(a)) < (a){return! w.wait(w.check((2i64).wrapping_add((a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64))))?)}
w.log((c).wrapping_sub((4i64).wrapping_mul(6i64)));}if ((a).wrapping_mul(c)) > (3i64){ drop(g2); }
a = a.wrapping_add(c);} else {}5i64}))?);('l4: loop { if w.is_tired() { break 'l4 0i64 }break 'l4 b; })} }
fn plain_5(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if (({
let mut a = w.wait(2i64)?;a})) < ((a).wrapping_add(6i64)){
if ((if (b) < (c){1i64} else {
a = a.wrapping_sub(6i64);5i64})) > (3i64){return Ok(End::TailCall(w.check(a)?))}} else {
let _g1 = w.noisy(1);}
if let Some(mut a) = w.wait_some(5i64)?{}
'l0: for mut a in 0..2i64 { w.log(a);}
if (({a})) > ((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))?;
w.log(4i64);8i64})){return Ok(End::Value(w.check((1i64).wrapping_add((a).wrapping_mul(3i64)))?))}Ok(End::Value(w.wait(('l1: loop { if w.is_tired() { break 'l1 0i64 }
let g2 = w.noisy(2);{
let g3 = w.noisy(3);{}if ((if (c) < (c){
let mut a = 4i64;
c = c.wrapping_add((a).wrapping_mul((c).wrapping_add(6i64)));((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64)} else {
let mut b = c;
a = a.wrapping_sub(a);a})) < (b){ drop(g3); }
let mut a = (c).wrapping_mul(7i64);}if (w.check(6i64)?) < (b){ drop(g2); }break 'l1 b; }))?)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_5(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if (({
let mut a = w.wait(2i64).await?;a})) < ((a).wrapping_add(6i64)){
if ((if (b) < (c){1i64} else {
a = a.wrapping_sub(6i64);5i64})) > (3i64){return Ok(End::TailCall(w.check(a)?))}} else {
let _g1 = w.noisy(1);}
if let Some(mut a) = w.wait_some(5i64).await?{}
'l0: for mut a in 0..2i64 { w.log(a);}
if (({a})) > ((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))).await?;
w.log(4i64);8i64})){return Ok(End::Value(w.check((1i64).wrapping_add((a).wrapping_mul(3i64)))?))}Ok(End::Value(w.wait(('l1: loop { if w.is_tired() { break 'l1 0i64 }
let g2 = w.noisy(2);{
let g3 = w.noisy(3);{}if ((if (c) < (c){
let mut a = 4i64;
c = c.wrapping_add((a).wrapping_mul((c).wrapping_add(6i64)));((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64)} else {
let mut b = c;
a = a.wrapping_sub(a);a})) < (b){ drop(g3); }
let mut a = (c).wrapping_mul(7i64);}if (w.check(6i64)?) < (b){ drop(g2); }break 'l1 b; })).await?)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_5(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if (({
let! mut a = w.wait(2i64);a})) < ((a).wrapping_add(6i64)){
if ((if (b) < (c){1i64} else {
a = a.wrapping_sub(6i64);5i64})) > (3i64){return! w.wait(w.check(a)?)}} else {
let _g1 = w.noisy(1);}
if let Some(mut a) = (do! w.wait_some(5i64)){}
'l0: for mut a in 0..2i64 { w.log(a);}
if (({a})) > ((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let! mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))));
w.log(4i64);8i64})){return (w.check((1i64).wrapping_add((a).wrapping_mul(3i64)))?)}(do! w.wait(('l1: loop { if w.is_tired() { break 'l1 0i64 }
let g2 = w.noisy(2);{
let g3 = w.noisy(3);{}if ((if (c) < (c){
let mut a = 4i64;
c = c.wrapping_add((a).wrapping_mul((c).wrapping_add(6i64)));((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64)} else {
let mut b = c;
a = a.wrapping_sub(a);a})) < (b){ drop(g3); }
let mut a = (c).wrapping_mul(7i64);}if (w.check(6i64)?) < (b){ drop(g2); }break 'l1 b; })))} }
fn plain_6(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let g1 = w.noisy(1);{
let Some(mut a) = w.wait_some((a).wrapping_add(6i64))? else {return Ok(End::Value(w.wait(2i64)?))};
let Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; }))? else {return Ok(End::TailCall((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))?;
w.log(4i64);8i64})))};}if (b) < (6i64){ drop(g1); }
if (1i64) > (w.wait((3i64).wrapping_sub(1i64))?){} else {
let Some(mut b) = w.wait_some((if (a) < (1i64){
let (mut a, [mut b, ..]) = w.wait_pair(((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b)))?;((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))} else {
let mut b = c;
a = a.wrapping_sub(a);a}))? else {return Ok(End::Value(w.wait(a)?))};}
if ((if ((b).wrapping_add(c)) > (c){6i64} else {
if let Some(mut b) = w.wait_some((c).wrapping_mul(b))?{
if ((c).wrapping_add(2i64)) < (c){return Ok(End::Value(w.wait(7i64)?))}}4i64})) > ((match b{0 | 3 => {
a = a.wrapping_sub(7i64);(4i64).wrapping_sub((c).wrapping_mul(c))}n @ 1..=5 if n > 2 => {
w.log(6i64);a}n if n < a => {(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))}_ => {c}})){return Ok(End::TailCall(6i64))}
c = c.wrapping_add(w.wait((|v: i64| { if v > 4 { return c } v.wrapping_mul(c) })(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64)))?);
if (w.wait(('l1: loop { if w.is_tired() { break 'l1 0i64 }
if (7i64) > (c){break 'l1 w.check(4i64)?}break 'l1 a; }))?) < (w.wait(5i64)?){} else {
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let got = w.wait(4i64)?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);}
if (((if (c) > (b){
b = b.wrapping_add((4i64).wrapping_add(b));
b = b.wrapping_sub(b);a} else {
c = c.wrapping_add((7i64).wrapping_sub(2i64));0i64})).wrapping_sub(w.wait(a)?)) > (0i64){return Ok(End::Value(({
let (mut a, [mut b, ..]) = w.wait_pair((6i64).wrapping_sub(((1i64).wrapping_sub(((5i64).wrapping_add(6i64)).wrapping_sub(2i64))).wrapping_mul(c)))?;
let (mut a, [mut b, ..]) = w.wait_pair(((a).wrapping_sub(a)).wrapping_add((c).wrapping_add(c)))?;0i64})))}
{
let _g2 = w.noisy(2);
w.log(b);}Ok(End::Value(('l2: loop { if w.is_tired() { break 'l2 0i64 }
{}
w.log(w.wait(c)?);break 'l2 0i64; }))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_6(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let g1 = w.noisy(1);{
let Some(mut a) = w.wait_some((a).wrapping_add(6i64)).await? else {return Ok(End::Value(w.wait(2i64).await?))};
let Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; })).await? else {return Ok(End::TailCall((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))).await?;
w.log(4i64);8i64})))};}if (b) < (6i64){ drop(g1); }
if (1i64) > (w.wait((3i64).wrapping_sub(1i64)).await?){} else {
let Some(mut b) = w.wait_some((if (a) < (1i64){
let (mut a, [mut b, ..]) = w.wait_pair(((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).await?;((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))} else {
let mut b = c;
a = a.wrapping_sub(a);a})).await? else {return Ok(End::Value(w.wait(a).await?))};}
if ((if ((b).wrapping_add(c)) > (c){6i64} else {
if let Some(mut b) = w.wait_some((c).wrapping_mul(b)).await?{
if ((c).wrapping_add(2i64)) < (c){return Ok(End::Value(w.wait(7i64).await?))}}4i64})) > ((match b{0 | 3 => {
a = a.wrapping_sub(7i64);(4i64).wrapping_sub((c).wrapping_mul(c))}n @ 1..=5 if n > 2 => {
w.log(6i64);a}n if n < a => {(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))}_ => {c}})){return Ok(End::TailCall(6i64))}
c = c.wrapping_add(w.wait((|v: i64| { if v > 4 { return c } v.wrapping_mul(c) })(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64))).await?);
if (w.wait(('l1: loop { if w.is_tired() { break 'l1 0i64 }
if (7i64) > (c){break 'l1 w.check(4i64)?}break 'l1 a; })).await?) < (w.wait(5i64).await?){} else {
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let got = w.wait(4i64).await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);}
if (((if (c) > (b){
b = b.wrapping_add((4i64).wrapping_add(b));
b = b.wrapping_sub(b);a} else {
c = c.wrapping_add((7i64).wrapping_sub(2i64));0i64})).wrapping_sub(w.wait(a).await?)) > (0i64){return Ok(End::Value(({
let (mut a, [mut b, ..]) = w.wait_pair((6i64).wrapping_sub(((1i64).wrapping_sub(((5i64).wrapping_add(6i64)).wrapping_sub(2i64))).wrapping_mul(c))).await?;
let (mut a, [mut b, ..]) = w.wait_pair(((a).wrapping_sub(a)).wrapping_add((c).wrapping_add(c))).await?;0i64})))}
{
let _g2 = w.noisy(2);
w.log(b);}Ok(End::Value(('l2: loop { if w.is_tired() { break 'l2 0i64 }
{}
w.log(w.wait(c).await?);break 'l2 0i64; }))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_6(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let g1 = w.noisy(1);{
let! Some(mut a) = w.wait_some((a).wrapping_add(6i64)) else {return ((do! w.wait(2i64)))};
let! Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; })) else {return! w.wait((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let! mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))));
w.log(4i64);8i64}))};}if (b) < (6i64){ drop(g1); }
if (1i64) > ((do! w.wait((3i64).wrapping_sub(1i64)))){} else {
let! Some(mut b) = w.wait_some((if (a) < (1i64){
let! (mut a, [mut b, ..]) = w.wait_pair(((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b)));((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))} else {
let mut b = c;
a = a.wrapping_sub(a);a})) else {return ((do! w.wait(a)))};}
if ((if ((b).wrapping_add(c)) > (c){6i64} else {
if let Some(mut b) = (do! w.wait_some((c).wrapping_mul(b))){
if ((c).wrapping_add(2i64)) < (c){return ((do! w.wait(7i64)))}}4i64})) > ((match b{0 | 3 => {
a = a.wrapping_sub(7i64);(4i64).wrapping_sub((c).wrapping_mul(c))}n @ 1..=5 if n > 2 => {
w.log(6i64);a}n if n < a => {(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))}_ => {c}})){return! w.wait(6i64)}
c = c.wrapping_add((do! w.wait((|v: i64| { if v > 4 { return c } v.wrapping_mul(c) })(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64)))));
if ((do! w.wait(('l1: loop { if w.is_tired() { break 'l1 0i64 }
if (7i64) > (c){break 'l1 w.check(4i64)?}break 'l1 a; })))) < ((do! w.wait(5i64))){} else {
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);}
if (((if (c) > (b){
b = b.wrapping_add((4i64).wrapping_add(b));
b = b.wrapping_sub(b);a} else {
c = c.wrapping_add((7i64).wrapping_sub(2i64));0i64})).wrapping_sub((do! w.wait(a)))) > (0i64){return (({
let! (mut a, [mut b, ..]) = w.wait_pair((6i64).wrapping_sub(((1i64).wrapping_sub(((5i64).wrapping_add(6i64)).wrapping_sub(2i64))).wrapping_mul(c)));
let! (mut a, [mut b, ..]) = w.wait_pair(((a).wrapping_sub(a)).wrapping_add((c).wrapping_add(c)));0i64}))}
{
let _g2 = w.noisy(2);
w.log(b);}('l2: loop { if w.is_tired() { break 'l2 0i64 }
{}
w.log((do! w.wait(c)));break 'l2 0i64; })} }
fn plain_7(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let got = w.wait(4i64)?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
let mut b = w.wait(w.wait(w.wait((5i64).wrapping_sub(7i64))?)?)?;
if let Some(mut a) = w.wait_some(w.wait(w.wait(2i64)?)?)?{
let Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; }))? else {return Ok(End::TailCall((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))?;
w.log(4i64);8i64})))};
if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a)?;break 'l1 1i64; });} else {
let g1 = w.noisy(1);{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if (4i64) < (b){return Ok(End::TailCall(w.wait(7i64)?))}}if ((if (4i64) < ((((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64))){
a = a.wrapping_sub(c);
if ((1i64).wrapping_mul(1i64)) < (a){return Ok(End::TailCall((match (b).wrapping_add((2i64).wrapping_sub(a)){0 | 3 => {
let (mut a, [mut b, ..]) = w.wait_pair(a)?;a}n @ 1..=5 if n > 2 => {
b = b.wrapping_sub(7i64);
let mut b = ((6i64).wrapping_add(a)).wrapping_sub(c);((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))}n if n < a => {
let mut a = 7i64;6i64}_ => {
let mut b = w.wait(b)?;a}})))}7i64} else {
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))})) > (7i64){ drop(g1); }}}
let _g2 = w.noisy(2);Ok(End::Value((match c{0 | 3 => {
{}0i64}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l2: while let Some(mut b) = stack.pop() { if w.is_tired() { break }
a = ((c).wrapping_sub(b)).wrapping_sub((b).wrapping_add((4i64).wrapping_add(b)));
b = b.wrapping_sub(b);}
let Some(mut a) = w.wait_some(b)? else {return Ok(End::TailCall(((7i64).wrapping_sub(2i64)).wrapping_sub(0i64)))};a}n if n < a => {2i64}_ => {
let g3 = w.noisy(3);{
let _ = w.noisy(4);
b = b.wrapping_add((0i64).wrapping_sub(7i64));}if ((if (6i64) > (((1i64).wrapping_sub(((5i64).wrapping_add(6i64)).wrapping_sub(2i64))).wrapping_mul(c)){
c = (a).wrapping_sub(a);(c).wrapping_add(c)} else {0i64})) < (c){ drop(g3); }
if (5i64) < (2i64){} else {
let mut c = (((b).wrapping_mul(2i64)).wrapping_add((a).wrapping_add(b))).wrapping_sub(((b).wrapping_add(6i64)).wrapping_sub(6i64));}0i64}}))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_7(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let got = w.wait(4i64).await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
let mut b = w.wait(w.wait(w.wait((5i64).wrapping_sub(7i64)).await?).await?).await?;
if let Some(mut a) = w.wait_some(w.wait(w.wait(2i64).await?).await?).await?{
let Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; })).await? else {return Ok(End::TailCall((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))).await?;
w.log(4i64);8i64})))};
if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;break 'l1 1i64; });} else {
let g1 = w.noisy(1);{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if (4i64) < (b){return Ok(End::TailCall(w.wait(7i64).await?))}}if ((if (4i64) < ((((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64))){
a = a.wrapping_sub(c);
if ((1i64).wrapping_mul(1i64)) < (a){return Ok(End::TailCall((match (b).wrapping_add((2i64).wrapping_sub(a)){0 | 3 => {
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;a}n @ 1..=5 if n > 2 => {
b = b.wrapping_sub(7i64);
let mut b = ((6i64).wrapping_add(a)).wrapping_sub(c);((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))}n if n < a => {
let mut a = 7i64;6i64}_ => {
let mut b = w.wait(b).await?;a}})))}7i64} else {
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))})) > (7i64){ drop(g1); }}}
let _g2 = w.noisy(2);Ok(End::Value((match c{0 | 3 => {
{}0i64}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l2: while let Some(mut b) = stack.pop() { if w.is_tired() { break }
a = ((c).wrapping_sub(b)).wrapping_sub((b).wrapping_add((4i64).wrapping_add(b)));
b = b.wrapping_sub(b);}
let Some(mut a) = w.wait_some(b).await? else {return Ok(End::TailCall(((7i64).wrapping_sub(2i64)).wrapping_sub(0i64)))};a}n if n < a => {2i64}_ => {
let g3 = w.noisy(3);{
let _ = w.noisy(4);
b = b.wrapping_add((0i64).wrapping_sub(7i64));}if ((if (6i64) > (((1i64).wrapping_sub(((5i64).wrapping_add(6i64)).wrapping_sub(2i64))).wrapping_mul(c)){
c = (a).wrapping_sub(a);(c).wrapping_add(c)} else {0i64})) < (c){ drop(g3); }
if (5i64) < (2i64){} else {
let mut c = (((b).wrapping_mul(2i64)).wrapping_add((a).wrapping_add(b))).wrapping_sub(((b).wrapping_add(6i64)).wrapping_sub(6i64));}0i64}}))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_7(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
let! mut b = w.wait((do! w.wait((do! w.wait((5i64).wrapping_sub(7i64))))));
if let Some(mut a) = (do! w.wait_some((do! w.wait((do! w.wait(2i64)))))){
let! Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; })) else {return! w.wait((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let! mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))));
w.log(4i64);8i64}))};
if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let! (mut a, [mut b, ..]) = w.wait_pair(a);break 'l1 1i64; });} else {
let g1 = w.noisy(1);{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if (4i64) < (b){return! w.wait((do! w.wait(7i64)))}}if ((if (4i64) < ((((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64))){
a = a.wrapping_sub(c);
if ((1i64).wrapping_mul(1i64)) < (a){return! w.wait((match (b).wrapping_add((2i64).wrapping_sub(a)){0 | 3 => {
let! (mut a, [mut b, ..]) = w.wait_pair(a);a}n @ 1..=5 if n > 2 => {
b = b.wrapping_sub(7i64);
let mut b = ((6i64).wrapping_add(a)).wrapping_sub(c);((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))}n if n < a => {
let mut a = 7i64;6i64}_ => {
let! mut b = w.wait(b);a}}))}7i64} else {
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))})) > (7i64){ drop(g1); }}}
let _g2 = w.noisy(2);(match c{0 | 3 => {
{}0i64}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l2: while let Some(mut b) = stack.pop() { if w.is_tired() { break }
a = ((c).wrapping_sub(b)).wrapping_sub((b).wrapping_add((4i64).wrapping_add(b)));
b = b.wrapping_sub(b);}
let! Some(mut a) = w.wait_some(b) else {return! w.wait(((7i64).wrapping_sub(2i64)).wrapping_sub(0i64))};a}n if n < a => {2i64}_ => {
let g3 = w.noisy(3);{
let _ = w.noisy(4);
b = b.wrapping_add((0i64).wrapping_sub(7i64));}if ((if (6i64) > (((1i64).wrapping_sub(((5i64).wrapping_add(6i64)).wrapping_sub(2i64))).wrapping_mul(c)){
c = (a).wrapping_sub(a);(c).wrapping_add(c)} else {0i64})) < (c){ drop(g3); }
if (5i64) < (2i64){} else {
let mut c = (((b).wrapping_mul(2i64)).wrapping_add((a).wrapping_add(b))).wrapping_sub(((b).wrapping_add(6i64)).wrapping_sub(6i64));}0i64}})} }
fn plain_8(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let _g1 = w.noisy(1);
let mut a = w.wait(w.wait(w.wait(a)?)?)?;
a = a.wrapping_add(w.wait((match w.wait(a)?{0 | 3 => {
let _g2 = w.noisy(2);
{
let (mut a, [mut c, ..]) = w.wait_pair(6i64)?;}b}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l0: while let Some(mut c) = stack.pop() { if w.is_tired() { break }}
let mut a = (if (1i64) > (a){c} else {
let mut a = 5i64;4i64});4i64}n if n < a => {7i64}_ => {
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = w.wait(4i64)?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
'l1: for mut a in 0..3i64 { w.log(a);
let mut c = (b).wrapping_mul(7i64);}0i64}}))?);
let mut stack = vec![a, b]; 'l2: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
let mut c = ({w.wait(6i64)?});
if (w.wait(w.wait(2i64)?)?) > (w.check(6i64)?){return Ok(End::Value(w.wait(b)?))}
{}
if ((if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l3: loop { if w.is_tired() { break 'l3 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a)?;break 'l3 1i64; });c} else {
'l4: while !w.is_tired() && ((c).wrapping_add(c)) < ((6i64).wrapping_mul(b)){
w.log((a).wrapping_mul((c).wrapping_add(6i64)));
let (mut a, [mut c, ..]) = w.wait_pair((c).wrapping_sub((a).wrapping_add(b)))?;}
if let Some(mut a) = w.wait_some((b).wrapping_add((2i64).wrapping_sub(a)))?{
let (mut a, [mut b, ..]) = w.wait_pair(a)?;}a})) > (({
if (b) < (c){return Ok(End::TailCall(c))}6i64})){
if let Some(mut b) = w.wait_some(w.wait(((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64)))?)?{
a = w.wait(6i64)?;}} else {
if (w.wait(b)?) < (8i64){return Ok(End::TailCall(w.wait(c)?))}}Ok(End::Value(4i64)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_8(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let _g1 = w.noisy(1);
let mut a = w.wait(w.wait(w.wait(a).await?).await?).await?;
a = a.wrapping_add(w.wait((match w.wait(a).await?{0 | 3 => {
let _g2 = w.noisy(2);
{
let (mut a, [mut c, ..]) = w.wait_pair(6i64).await?;}b}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l0: while let Some(mut c) = stack.pop() { if w.is_tired() { break }}
let mut a = (if (1i64) > (a){c} else {
let mut a = 5i64;4i64});4i64}n if n < a => {7i64}_ => {
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = w.wait(4i64).await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
'l1: for mut a in 0..3i64 { w.log(a);
let mut c = (b).wrapping_mul(7i64);}0i64}})).await?);
let mut stack = vec![a, b]; 'l2: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
let mut c = ({w.wait(6i64).await?});
if (w.wait(w.wait(2i64).await?).await?) > (w.check(6i64)?){return Ok(End::Value(w.wait(b).await?))}
{}
if ((if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l3: loop { if w.is_tired() { break 'l3 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;break 'l3 1i64; });c} else {
'l4: while !w.is_tired() && ((c).wrapping_add(c)) < ((6i64).wrapping_mul(b)){
w.log((a).wrapping_mul((c).wrapping_add(6i64)));
let (mut a, [mut c, ..]) = w.wait_pair((c).wrapping_sub((a).wrapping_add(b))).await?;}
if let Some(mut a) = w.wait_some((b).wrapping_add((2i64).wrapping_sub(a))).await?{
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;}a})) > (({
if (b) < (c){return Ok(End::TailCall(c))}6i64})){
if let Some(mut b) = w.wait_some(w.wait(((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))).await?).await?{
a = w.wait(6i64).await?;}} else {
if (w.wait(b).await?) < (8i64){return Ok(End::TailCall(w.wait(c).await?))}}Ok(End::Value(4i64)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_8(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let _g1 = w.noisy(1);
let! mut a = w.wait((do! w.wait((do! w.wait(a)))));
a = a.wrapping_add((do! w.wait((match (do! w.wait(a)){0 | 3 => {
let _g2 = w.noisy(2);
{
let! (mut a, [mut c, ..]) = w.wait_pair(6i64);}b}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l0: while let Some(mut c) = stack.pop() { if w.is_tired() { break }}
let mut a = (if (1i64) > (a){c} else {
let mut a = 5i64;4i64});4i64}n if n < a => {7i64}_ => {
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
'l1: for mut a in 0..3i64 { w.log(a);
let mut c = (b).wrapping_mul(7i64);}0i64}}))));
let mut stack = vec![a, b]; 'l2: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
let mut c = ({(do! w.wait(6i64))});
if ((do! w.wait((do! w.wait(2i64))))) > (w.check(6i64)?){return ((do! w.wait(b)))}
{}
if ((if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l3: loop { if w.is_tired() { break 'l3 0i64 }
let! (mut a, [mut b, ..]) = w.wait_pair(a);break 'l3 1i64; });c} else {
'l4: while !w.is_tired() && ((c).wrapping_add(c)) < ((6i64).wrapping_mul(b)){
w.log((a).wrapping_mul((c).wrapping_add(6i64)));
let! (mut a, [mut c, ..]) = w.wait_pair((c).wrapping_sub((a).wrapping_add(b)));}
if let Some(mut a) = (do! w.wait_some((b).wrapping_add((2i64).wrapping_sub(a)))){
let! (mut a, [mut b, ..]) = w.wait_pair(a);}a})) > (({
if (b) < (c){return! w.wait(c)}6i64})){
if let Some(mut b) = (do! w.wait_some((do! w.wait(((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64)))))){
a = (do! w.wait(6i64));}} else {
if ((do! w.wait(b))) < (8i64){return! w.wait((do! w.wait(c)))}}4i64} }
fn plain_9(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut b = w.wait(w.wait(w.wait((5i64).wrapping_sub(7i64))?)?)?;
if let Some(mut a) = w.wait_some(w.wait(w.wait(2i64)?)?)?{
let Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; }))? else {return Ok(End::TailCall((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))?;
w.log(4i64);8i64})))};
if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a)?;break 'l1 1i64; });} else {
let g1 = w.noisy(1);{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if (4i64) < (b){return Ok(End::TailCall(w.wait(7i64)?))}}if ((if (4i64) < ((((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64))){
a = a.wrapping_sub(c);
if ((1i64).wrapping_mul(1i64)) < (a){return Ok(End::TailCall((match (b).wrapping_add((2i64).wrapping_sub(a)){0 | 3 => {
let (mut a, [mut b, ..]) = w.wait_pair(a)?;a}n @ 1..=5 if n > 2 => {
b = b.wrapping_sub(7i64);
let mut b = ((6i64).wrapping_add(a)).wrapping_sub(c);((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))}n if n < a => {
let mut a = 7i64;6i64}_ => {
let mut b = w.wait(b)?;a}})))}7i64} else {
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))})) > (7i64){ drop(g1); }}}
let _g2 = w.noisy(2);
if let Some(mut b) = w.wait_some((w.check(3i64)?).wrapping_sub(w.wait((c).wrapping_add(a))?))?{}Ok(End::Value(((if (c) > (b){
b = b.wrapping_add((4i64).wrapping_add(b));
b = b.wrapping_sub(b);a} else {
c = c.wrapping_add((7i64).wrapping_sub(2i64));0i64})).wrapping_sub(w.wait(a)?))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_9(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut b = w.wait(w.wait(w.wait((5i64).wrapping_sub(7i64)).await?).await?).await?;
if let Some(mut a) = w.wait_some(w.wait(w.wait(2i64).await?).await?).await?{
let Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; })).await? else {return Ok(End::TailCall((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))).await?;
w.log(4i64);8i64})))};
if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;break 'l1 1i64; });} else {
let g1 = w.noisy(1);{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if (4i64) < (b){return Ok(End::TailCall(w.wait(7i64).await?))}}if ((if (4i64) < ((((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64))){
a = a.wrapping_sub(c);
if ((1i64).wrapping_mul(1i64)) < (a){return Ok(End::TailCall((match (b).wrapping_add((2i64).wrapping_sub(a)){0 | 3 => {
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;a}n @ 1..=5 if n > 2 => {
b = b.wrapping_sub(7i64);
let mut b = ((6i64).wrapping_add(a)).wrapping_sub(c);((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))}n if n < a => {
let mut a = 7i64;6i64}_ => {
let mut b = w.wait(b).await?;a}})))}7i64} else {
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))})) > (7i64){ drop(g1); }}}
let _g2 = w.noisy(2);
if let Some(mut b) = w.wait_some((w.check(3i64)?).wrapping_sub(w.wait((c).wrapping_add(a)).await?)).await?{}Ok(End::Value(((if (c) > (b){
b = b.wrapping_add((4i64).wrapping_add(b));
b = b.wrapping_sub(b);a} else {
c = c.wrapping_add((7i64).wrapping_sub(2i64));0i64})).wrapping_sub(w.wait(a).await?))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_9(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let! mut b = w.wait((do! w.wait((do! w.wait((5i64).wrapping_sub(7i64))))));
if let Some(mut a) = (do! w.wait_some((do! w.wait((do! w.wait(2i64)))))){
let! Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; })) else {return! w.wait((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let! mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))));
w.log(4i64);8i64}))};
if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let! (mut a, [mut b, ..]) = w.wait_pair(a);break 'l1 1i64; });} else {
let g1 = w.noisy(1);{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if (4i64) < (b){return! w.wait((do! w.wait(7i64)))}}if ((if (4i64) < ((((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64))){
a = a.wrapping_sub(c);
if ((1i64).wrapping_mul(1i64)) < (a){return! w.wait((match (b).wrapping_add((2i64).wrapping_sub(a)){0 | 3 => {
let! (mut a, [mut b, ..]) = w.wait_pair(a);a}n @ 1..=5 if n > 2 => {
b = b.wrapping_sub(7i64);
let mut b = ((6i64).wrapping_add(a)).wrapping_sub(c);((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))}n if n < a => {
let mut a = 7i64;6i64}_ => {
let! mut b = w.wait(b);a}}))}7i64} else {
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))})) > (7i64){ drop(g1); }}}
let _g2 = w.noisy(2);
if let Some(mut b) = (do! w.wait_some((w.check(3i64)?).wrapping_sub((do! w.wait((c).wrapping_add(a)))))){}((if (c) > (b){
b = b.wrapping_add((4i64).wrapping_add(b));
b = b.wrapping_sub(b);a} else {
c = c.wrapping_add((7i64).wrapping_sub(2i64));0i64})).wrapping_sub((do! w.wait(a)))} }
fn plain_10(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut a = w.wait(w.wait(w.wait(a)?)?)?;
a = a.wrapping_add(w.wait((match w.wait(a)?{0 | 3 => {
let _g1 = w.noisy(1);
{
let (mut a, [mut c, ..]) = w.wait_pair(6i64)?;}b}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l0: while let Some(mut c) = stack.pop() { if w.is_tired() { break }}
let mut a = (if (1i64) > (a){c} else {
let mut a = 5i64;4i64});4i64}n if n < a => {7i64}_ => {
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = w.wait(4i64)?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
'l1: for mut a in 0..3i64 { w.log(a);
let mut c = (b).wrapping_mul(7i64);}0i64}}))?);
let mut stack = vec![a, b]; 'l2: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
let mut c = ({w.wait(6i64)?});
if (w.wait(w.wait(2i64)?)?) > (w.check(6i64)?){return Ok(End::Value(w.wait(b)?))}Ok(End::Value(a)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_10(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut a = w.wait(w.wait(w.wait(a).await?).await?).await?;
a = a.wrapping_add(w.wait((match w.wait(a).await?{0 | 3 => {
let _g1 = w.noisy(1);
{
let (mut a, [mut c, ..]) = w.wait_pair(6i64).await?;}b}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l0: while let Some(mut c) = stack.pop() { if w.is_tired() { break }}
let mut a = (if (1i64) > (a){c} else {
let mut a = 5i64;4i64});4i64}n if n < a => {7i64}_ => {
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = w.wait(4i64).await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
'l1: for mut a in 0..3i64 { w.log(a);
let mut c = (b).wrapping_mul(7i64);}0i64}})).await?);
let mut stack = vec![a, b]; 'l2: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
let mut c = ({w.wait(6i64).await?});
if (w.wait(w.wait(2i64).await?).await?) > (w.check(6i64)?){return Ok(End::Value(w.wait(b).await?))}Ok(End::Value(a)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_10(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let! mut a = w.wait((do! w.wait((do! w.wait(a)))));
a = a.wrapping_add((do! w.wait((match (do! w.wait(a)){0 | 3 => {
let _g1 = w.noisy(1);
{
let! (mut a, [mut c, ..]) = w.wait_pair(6i64);}b}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l0: while let Some(mut c) = stack.pop() { if w.is_tired() { break }}
let mut a = (if (1i64) > (a){c} else {
let mut a = 5i64;4i64});4i64}n if n < a => {7i64}_ => {
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
'l1: for mut a in 0..3i64 { w.log(a);
let mut c = (b).wrapping_mul(7i64);}0i64}}))));
let mut stack = vec![a, b]; 'l2: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
let mut c = ({(do! w.wait(6i64))});
if ((do! w.wait((do! w.wait(2i64))))) > (w.check(6i64)?){return ((do! w.wait(b)))}a} }
fn plain_11(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
w.log(w.wait(w.wait(w.check(5i64)?)?)?);
let mut stack = vec![a, b]; 'l0: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
if (w.wait((match (b).wrapping_mul(b){0 | 3 => {
let (mut a, [mut c, ..]) = w.wait_pair(b)?;
a = a.wrapping_sub(6i64);5i64}n @ 1..=5 if n > 2 => {1i64}n if n < a => {
let mut a = c;a}_ => {5i64}}))?) < ((match a{0 | 3 => {
if (c) < ((a).wrapping_add((((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64))){return Ok(End::TailCall(0i64))}(2i64).wrapping_add(6i64)}n @ 1..=5 if n > 2 => {(0i64).wrapping_add((6i64).wrapping_sub(b))}n if n < a => {
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);b}_ => {
let (mut a, [mut b, ..]) = w.wait_pair(a)?;1i64}})){return Ok(End::Value(w.wait((((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).wrapping_mul(((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))))?))}
w.log(b);
'l2: while !w.is_tired() && ((match (if (4i64) < (1i64){
let mut b = 2i64;((b).wrapping_add(c)).wrapping_sub(c)} else {6i64}){0 | 3 => {
if let Some(mut b) = w.wait_some((c).wrapping_mul(b))?{
if ((c).wrapping_add(2i64)) < (c){return Ok(End::Value(w.wait(7i64)?))}}4i64}n @ 1..=5 if n > 2 => {b}n if n < a => {
'l1: for mut a in 0..3i64 { w.log(a);}c}_ => {
w.log(w.check((c).wrapping_mul(c))?);b}})) > (w.wait(1i64)?){}Ok(End::Value(w.wait((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64)))?)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_11(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
w.log(w.wait(w.wait(w.check(5i64)?).await?).await?);
let mut stack = vec![a, b]; 'l0: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
if (w.wait((match (b).wrapping_mul(b){0 | 3 => {
let (mut a, [mut c, ..]) = w.wait_pair(b).await?;
a = a.wrapping_sub(6i64);5i64}n @ 1..=5 if n > 2 => {1i64}n if n < a => {
let mut a = c;a}_ => {5i64}})).await?) < ((match a{0 | 3 => {
if (c) < ((a).wrapping_add((((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64))){return Ok(End::TailCall(0i64))}(2i64).wrapping_add(6i64)}n @ 1..=5 if n > 2 => {(0i64).wrapping_add((6i64).wrapping_sub(b))}n if n < a => {
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);b}_ => {
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;1i64}})){return Ok(End::Value(w.wait((((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).wrapping_mul(((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64)))).await?))}
w.log(b);
'l2: while !w.is_tired() && ((match (if (4i64) < (1i64){
let mut b = 2i64;((b).wrapping_add(c)).wrapping_sub(c)} else {6i64}){0 | 3 => {
if let Some(mut b) = w.wait_some((c).wrapping_mul(b)).await?{
if ((c).wrapping_add(2i64)) < (c){return Ok(End::Value(w.wait(7i64).await?))}}4i64}n @ 1..=5 if n > 2 => {b}n if n < a => {
'l1: for mut a in 0..3i64 { w.log(a);}c}_ => {
w.log(w.check((c).wrapping_mul(c))?);b}})) > (w.wait(1i64).await?){}Ok(End::Value(w.wait((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))).await?)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_11(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
w.log((do! w.wait((do! w.wait(w.check(5i64)?)))));
let mut stack = vec![a, b]; 'l0: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
if ((do! w.wait((match (b).wrapping_mul(b){0 | 3 => {
let! (mut a, [mut c, ..]) = w.wait_pair(b);
a = a.wrapping_sub(6i64);5i64}n @ 1..=5 if n > 2 => {1i64}n if n < a => {
let mut a = c;a}_ => {5i64}})))) < ((match a{0 | 3 => {
if (c) < ((a).wrapping_add((((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64))){return! w.wait(0i64)}(2i64).wrapping_add(6i64)}n @ 1..=5 if n > 2 => {(0i64).wrapping_add((6i64).wrapping_sub(b))}n if n < a => {
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);b}_ => {
let! (mut a, [mut b, ..]) = w.wait_pair(a);1i64}})){return ((do! w.wait((((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).wrapping_mul(((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))))))}
w.log(b);
'l2: while !w.is_tired() && ((match (if (4i64) < (1i64){
let mut b = 2i64;((b).wrapping_add(c)).wrapping_sub(c)} else {6i64}){0 | 3 => {
if let Some(mut b) = (do! w.wait_some((c).wrapping_mul(b))){
if ((c).wrapping_add(2i64)) < (c){return ((do! w.wait(7i64)))}}4i64}n @ 1..=5 if n > 2 => {b}n if n < a => {
'l1: for mut a in 0..3i64 { w.log(a);}c}_ => {
w.log(w.check((c).wrapping_mul(c))?);b}})) > ((do! w.wait(1i64))){}(do! w.wait((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))))} }
fn plain_12(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if (w.check((match (a).wrapping_add(6i64){0 | 3 => {
if ((b).wrapping_sub(c)) > (6i64){return Ok(End::TailCall(w.check(c)?))}(3i64).wrapping_add((1i64).wrapping_add(a))}n @ 1..=5 if n > 2 => {c}n if n < a => {
let mut a = 5i64;4i64}_ => {a}}))?) > (7i64){return Ok(End::Value(({a})))}
'l0: for mut c in 0..3i64 { w.log(c);
if (w.check(7i64)?) > (0i64){} else {
let mut a = w.wait((2i64).wrapping_add(6i64))?;}
if (w.wait(0i64)?) > ((6i64).wrapping_sub(b)){break 'l0 }}
if (1i64) > (w.wait((3i64).wrapping_sub(1i64))?){} else {
let Some(mut b) = w.wait_some((if (a) < (1i64){
let (mut a, [mut b, ..]) = w.wait_pair(((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b)))?;((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))} else {
let mut b = c;
a = a.wrapping_sub(a);a}))? else {return Ok(End::Value(w.wait(a)?))};}
if ((if ((b).wrapping_add(c)) > (c){6i64} else {
if let Some(mut b) = w.wait_some((c).wrapping_mul(b))?{
if ((c).wrapping_add(2i64)) < (c){return Ok(End::Value(w.wait(7i64)?))}}4i64})) > ((match b{0 | 3 => {
a = a.wrapping_sub(7i64);(4i64).wrapping_sub((c).wrapping_mul(c))}n @ 1..=5 if n > 2 => {
w.log(6i64);a}n if n < a => {(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))}_ => {c}})){return Ok(End::TailCall(6i64))}
c = c.wrapping_add(w.wait((|v: i64| { if v > 4 { return c } v.wrapping_mul(c) })(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64)))?);
if (w.wait(('l2: loop { if w.is_tired() { break 'l2 0i64 }
if (7i64) > (c){break 'l2 w.check(4i64)?}break 'l2 a; }))?) < (w.wait(5i64)?){} else {
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let got = w.wait(4i64)?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);}
if (((if (c) > (b){
b = b.wrapping_add((4i64).wrapping_add(b));
b = b.wrapping_sub(b);a} else {
c = c.wrapping_add((7i64).wrapping_sub(2i64));0i64})).wrapping_sub(w.wait(a)?)) > (0i64){return Ok(End::Value(({
let (mut a, [mut b, ..]) = w.wait_pair((6i64).wrapping_sub(((1i64).wrapping_sub(((5i64).wrapping_add(6i64)).wrapping_sub(2i64))).wrapping_mul(c)))?;
let (mut a, [mut b, ..]) = w.wait_pair(((a).wrapping_sub(a)).wrapping_add((c).wrapping_add(c)))?;0i64})))}Ok(End::Value(('l3: loop { if w.is_tired() { break 'l3 0i64 }
let _g1 = w.noisy(1);
w.log(b);break 'l3 c; }))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_12(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if (w.check((match (a).wrapping_add(6i64){0 | 3 => {
if ((b).wrapping_sub(c)) > (6i64){return Ok(End::TailCall(w.check(c)?))}(3i64).wrapping_add((1i64).wrapping_add(a))}n @ 1..=5 if n > 2 => {c}n if n < a => {
let mut a = 5i64;4i64}_ => {a}}))?) > (7i64){return Ok(End::Value(({a})))}
'l0: for mut c in 0..3i64 { w.log(c);
if (w.check(7i64)?) > (0i64){} else {
let mut a = w.wait((2i64).wrapping_add(6i64)).await?;}
if (w.wait(0i64).await?) > ((6i64).wrapping_sub(b)){break 'l0 }}
if (1i64) > (w.wait((3i64).wrapping_sub(1i64)).await?){} else {
let Some(mut b) = w.wait_some((if (a) < (1i64){
let (mut a, [mut b, ..]) = w.wait_pair(((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).await?;((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))} else {
let mut b = c;
a = a.wrapping_sub(a);a})).await? else {return Ok(End::Value(w.wait(a).await?))};}
if ((if ((b).wrapping_add(c)) > (c){6i64} else {
if let Some(mut b) = w.wait_some((c).wrapping_mul(b)).await?{
if ((c).wrapping_add(2i64)) < (c){return Ok(End::Value(w.wait(7i64).await?))}}4i64})) > ((match b{0 | 3 => {
a = a.wrapping_sub(7i64);(4i64).wrapping_sub((c).wrapping_mul(c))}n @ 1..=5 if n > 2 => {
w.log(6i64);a}n if n < a => {(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))}_ => {c}})){return Ok(End::TailCall(6i64))}
c = c.wrapping_add(w.wait((|v: i64| { if v > 4 { return c } v.wrapping_mul(c) })(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64))).await?);
if (w.wait(('l2: loop { if w.is_tired() { break 'l2 0i64 }
if (7i64) > (c){break 'l2 w.check(4i64)?}break 'l2 a; })).await?) < (w.wait(5i64).await?){} else {
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let got = w.wait(4i64).await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);}
if (((if (c) > (b){
b = b.wrapping_add((4i64).wrapping_add(b));
b = b.wrapping_sub(b);a} else {
c = c.wrapping_add((7i64).wrapping_sub(2i64));0i64})).wrapping_sub(w.wait(a).await?)) > (0i64){return Ok(End::Value(({
let (mut a, [mut b, ..]) = w.wait_pair((6i64).wrapping_sub(((1i64).wrapping_sub(((5i64).wrapping_add(6i64)).wrapping_sub(2i64))).wrapping_mul(c))).await?;
let (mut a, [mut b, ..]) = w.wait_pair(((a).wrapping_sub(a)).wrapping_add((c).wrapping_add(c))).await?;0i64})))}Ok(End::Value(('l3: loop { if w.is_tired() { break 'l3 0i64 }
let _g1 = w.noisy(1);
w.log(b);break 'l3 c; }))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_12(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if (w.check((match (a).wrapping_add(6i64){0 | 3 => {
if ((b).wrapping_sub(c)) > (6i64){return! w.wait(w.check(c)?)}(3i64).wrapping_add((1i64).wrapping_add(a))}n @ 1..=5 if n > 2 => {c}n if n < a => {
let mut a = 5i64;4i64}_ => {a}}))?) > (7i64){return (({a}))}
'l0: for mut c in 0..3i64 { w.log(c);
if (w.check(7i64)?) > (0i64){} else {
let mut a = (do! w.wait((2i64).wrapping_add(6i64)));}
if ((do! w.wait(0i64))) > ((6i64).wrapping_sub(b)){break 'l0 }}
if (1i64) > ((do! w.wait((3i64).wrapping_sub(1i64)))){} else {
let! Some(mut b) = w.wait_some((if (a) < (1i64){
let! (mut a, [mut b, ..]) = w.wait_pair(((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b)));((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))} else {
let mut b = c;
a = a.wrapping_sub(a);a})) else {return ((do! w.wait(a)))};}
if ((if ((b).wrapping_add(c)) > (c){6i64} else {
if let Some(mut b) = (do! w.wait_some((c).wrapping_mul(b))){
if ((c).wrapping_add(2i64)) < (c){return ((do! w.wait(7i64)))}}4i64})) > ((match b{0 | 3 => {
a = a.wrapping_sub(7i64);(4i64).wrapping_sub((c).wrapping_mul(c))}n @ 1..=5 if n > 2 => {
w.log(6i64);a}n if n < a => {(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))}_ => {c}})){return! w.wait(6i64)}
c = c.wrapping_add((do! w.wait((|v: i64| { if v > 4 { return c } v.wrapping_mul(c) })(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64)))));
if ((do! w.wait(('l2: loop { if w.is_tired() { break 'l2 0i64 }
if (7i64) > (c){break 'l2 w.check(4i64)?}break 'l2 a; })))) < ((do! w.wait(5i64))){} else {
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);}
if (((if (c) > (b){
b = b.wrapping_add((4i64).wrapping_add(b));
b = b.wrapping_sub(b);a} else {
c = c.wrapping_add((7i64).wrapping_sub(2i64));0i64})).wrapping_sub((do! w.wait(a)))) > (0i64){return (({
let! (mut a, [mut b, ..]) = w.wait_pair((6i64).wrapping_sub(((1i64).wrapping_sub(((5i64).wrapping_add(6i64)).wrapping_sub(2i64))).wrapping_mul(c)));
let! (mut a, [mut b, ..]) = w.wait_pair(((a).wrapping_sub(a)).wrapping_add((c).wrapping_add(c)));0i64}))}('l3: loop { if w.is_tired() { break 'l3 0i64 }
let _g1 = w.noisy(1);
w.log(b);break 'l3 c; })} }
fn plain_13(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
b = (w.wait(w.wait(6i64)?)?).wrapping_add(w.wait((match (b).wrapping_mul(b){0 | 3 => {
let (mut a, [mut c, ..]) = w.wait_pair(b)?;
a = a.wrapping_sub(6i64);5i64}n @ 1..=5 if n > 2 => {1i64}n if n < a => {
let mut a = c;a}_ => {5i64}}))?);
if let Some(mut b) = w.wait_some(w.wait(w.check(6i64)?)?)?{
let g1 = w.noisy(1);{
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = w.wait(4i64)?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
if (6i64) > (8i64){return Ok(End::TailCall(w.wait(0i64)?))}}if (('l0: loop { if w.is_tired() { break 'l0 0i64 }break 'l0 (((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64); })) > (0i64){ drop(g1); }}
let mut a = w.wait(w.wait(w.wait(b)?)?)?;
w.log(a);
if ((if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a)?;break 'l1 1i64; });c} else {
'l2: while !w.is_tired() && ((c).wrapping_add(c)) < ((6i64).wrapping_mul(b)){
w.log((a).wrapping_mul((c).wrapping_add(6i64)));
let (mut a, [mut c, ..]) = w.wait_pair((c).wrapping_sub((a).wrapping_add(b)))?;}
if let Some(mut a) = w.wait_some((b).wrapping_add((2i64).wrapping_sub(a)))?{
let (mut a, [mut b, ..]) = w.wait_pair(a)?;}a})) > (({
if (b) < (c){return Ok(End::TailCall(c))}6i64})){
if let Some(mut b) = w.wait_some(w.wait(((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64)))?)?{
a = w.wait(6i64)?;}} else {
if (w.wait(b)?) < (8i64){return Ok(End::TailCall(w.wait(c)?))}}Ok(End::Value(4i64)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_13(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
b = (w.wait(w.wait(6i64).await?).await?).wrapping_add(w.wait((match (b).wrapping_mul(b){0 | 3 => {
let (mut a, [mut c, ..]) = w.wait_pair(b).await?;
a = a.wrapping_sub(6i64);5i64}n @ 1..=5 if n > 2 => {1i64}n if n < a => {
let mut a = c;a}_ => {5i64}})).await?);
if let Some(mut b) = w.wait_some(w.wait(w.check(6i64)?).await?).await?{
let g1 = w.noisy(1);{
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = w.wait(4i64).await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
if (6i64) > (8i64){return Ok(End::TailCall(w.wait(0i64).await?))}}if (('l0: loop { if w.is_tired() { break 'l0 0i64 }break 'l0 (((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64); })) > (0i64){ drop(g1); }}
let mut a = w.wait(w.wait(w.wait(b).await?).await?).await?;
w.log(a);
if ((if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;break 'l1 1i64; });c} else {
'l2: while !w.is_tired() && ((c).wrapping_add(c)) < ((6i64).wrapping_mul(b)){
w.log((a).wrapping_mul((c).wrapping_add(6i64)));
let (mut a, [mut c, ..]) = w.wait_pair((c).wrapping_sub((a).wrapping_add(b))).await?;}
if let Some(mut a) = w.wait_some((b).wrapping_add((2i64).wrapping_sub(a))).await?{
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;}a})) > (({
if (b) < (c){return Ok(End::TailCall(c))}6i64})){
if let Some(mut b) = w.wait_some(w.wait(((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))).await?).await?{
a = w.wait(6i64).await?;}} else {
if (w.wait(b).await?) < (8i64){return Ok(End::TailCall(w.wait(c).await?))}}Ok(End::Value(4i64)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_13(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
b = ((do! w.wait((do! w.wait(6i64))))).wrapping_add((do! w.wait((match (b).wrapping_mul(b){0 | 3 => {
let! (mut a, [mut c, ..]) = w.wait_pair(b);
a = a.wrapping_sub(6i64);5i64}n @ 1..=5 if n > 2 => {1i64}n if n < a => {
let mut a = c;a}_ => {5i64}}))));
if let Some(mut b) = (do! w.wait_some((do! w.wait(w.check(6i64)?)))){
let g1 = w.noisy(1);{
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
if (6i64) > (8i64){return! w.wait((do! w.wait(0i64)))}}if (('l0: loop { if w.is_tired() { break 'l0 0i64 }break 'l0 (((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64); })) > (0i64){ drop(g1); }}
let! mut a = w.wait((do! w.wait((do! w.wait(b)))));
w.log(a);
if ((if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let! (mut a, [mut b, ..]) = w.wait_pair(a);break 'l1 1i64; });c} else {
'l2: while !w.is_tired() && ((c).wrapping_add(c)) < ((6i64).wrapping_mul(b)){
w.log((a).wrapping_mul((c).wrapping_add(6i64)));
let! (mut a, [mut c, ..]) = w.wait_pair((c).wrapping_sub((a).wrapping_add(b)));}
if let Some(mut a) = (do! w.wait_some((b).wrapping_add((2i64).wrapping_sub(a)))){
let! (mut a, [mut b, ..]) = w.wait_pair(a);}a})) > (({
if (b) < (c){return! w.wait(c)}6i64})){
if let Some(mut b) = (do! w.wait_some((do! w.wait(((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64)))))){
a = (do! w.wait(6i64));}} else {
if ((do! w.wait(b))) < (8i64){return! w.wait((do! w.wait(c)))}}4i64} }
fn plain_14(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let Some(mut a) = w.wait_some((w.wait(6i64)?).wrapping_add(w.wait(a)?))? else {return Ok(End::TailCall(({
let mut b = w.wait(c)?;6i64})))};
'l0: for mut c in 0..1i64 { w.log(c);
if (w.wait((1i64).wrapping_add(a))?) < (1i64){return Ok(End::Value(w.wait(a)?))}
if (w.wait(4i64)?) > (6i64){
let g1 = w.noisy(1);{
if (2i64) < (6i64){return Ok(End::Value(w.wait((0i64).wrapping_add((6i64).wrapping_sub(b)))?))}
let mut a = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);}if (('l1: loop { if w.is_tired() { break 'l1 0i64 }break 'l1 (((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64); })) > (0i64){ drop(g1); }} else {
let Some(mut b) = w.wait_some((a).wrapping_sub(1i64))? else {continue 'l0};}}
'l2: for mut b in 0..3i64 { w.log(b);
let mut c = w.wait(w.wait(a)?)?;}
let Some(mut b) = w.wait_some(w.wait(w.wait(2i64)?)?)? else {return Ok(End::Value((if ((b).wrapping_add(c)) > (c){6i64} else {
let mut b = w.wait((c).wrapping_mul(b))?;b})))};
a = a.wrapping_add((w.wait(w.wait((7i64).wrapping_add(6i64))?)?).wrapping_add(a));
{
'l3: for mut b in 0..1i64 { w.log(b);
let mut stack = vec![a, b]; 'l4: while let Some(mut b) = stack.pop() { if w.is_tired() { break }
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);}
if (((a).wrapping_mul(c)).wrapping_sub(3i64)) > (((0i64).wrapping_mul(b)).wrapping_sub(4i64)){} else {
a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));}}}Ok(End::Value(w.wait(('l5: loop { if w.is_tired() { break 'l5 0i64 }break 'l5 b; }))?)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_14(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let Some(mut a) = w.wait_some((w.wait(6i64).await?).wrapping_add(w.wait(a).await?)).await? else {return Ok(End::TailCall(({
let mut b = w.wait(c).await?;6i64})))};
'l0: for mut c in 0..1i64 { w.log(c);
if (w.wait((1i64).wrapping_add(a)).await?) < (1i64){return Ok(End::Value(w.wait(a).await?))}
if (w.wait(4i64).await?) > (6i64){
let g1 = w.noisy(1);{
if (2i64) < (6i64){return Ok(End::Value(w.wait((0i64).wrapping_add((6i64).wrapping_sub(b))).await?))}
let mut a = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);}if (('l1: loop { if w.is_tired() { break 'l1 0i64 }break 'l1 (((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64); })) > (0i64){ drop(g1); }} else {
let Some(mut b) = w.wait_some((a).wrapping_sub(1i64)).await? else {continue 'l0};}}
'l2: for mut b in 0..3i64 { w.log(b);
let mut c = w.wait(w.wait(a).await?).await?;}
let Some(mut b) = w.wait_some(w.wait(w.wait(2i64).await?).await?).await? else {return Ok(End::Value((if ((b).wrapping_add(c)) > (c){6i64} else {
let mut b = w.wait((c).wrapping_mul(b)).await?;b})))};
a = a.wrapping_add((w.wait(w.wait((7i64).wrapping_add(6i64)).await?).await?).wrapping_add(a));
{
'l3: for mut b in 0..1i64 { w.log(b);
let mut stack = vec![a, b]; 'l4: while let Some(mut b) = stack.pop() { if w.is_tired() { break }
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);}
if (((a).wrapping_mul(c)).wrapping_sub(3i64)) > (((0i64).wrapping_mul(b)).wrapping_sub(4i64)){} else {
a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));}}}Ok(End::Value(w.wait(('l5: loop { if w.is_tired() { break 'l5 0i64 }break 'l5 b; })).await?)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_14(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let! Some(mut a) = w.wait_some(((do! w.wait(6i64))).wrapping_add((do! w.wait(a)))) else {return! w.wait(({
let! mut b = w.wait(c);6i64}))};
'l0: for mut c in 0..1i64 { w.log(c);
if ((do! w.wait((1i64).wrapping_add(a)))) < (1i64){return ((do! w.wait(a)))}
if ((do! w.wait(4i64))) > (6i64){
let g1 = w.noisy(1);{
if (2i64) < (6i64){return ((do! w.wait((0i64).wrapping_add((6i64).wrapping_sub(b)))))}
let mut a = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);}if (('l1: loop { if w.is_tired() { break 'l1 0i64 }break 'l1 (((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64); })) > (0i64){ drop(g1); }} else {
let! Some(mut b) = w.wait_some((a).wrapping_sub(1i64)) else {continue 'l0};}}
'l2: for mut b in 0..3i64 { w.log(b);
let mut c = (do! w.wait((do! w.wait(a))));}
let! Some(mut b) = w.wait_some((do! w.wait((do! w.wait(2i64))))) else {return ((if ((b).wrapping_add(c)) > (c){6i64} else {
let! mut b = w.wait((c).wrapping_mul(b));b}))};
a = a.wrapping_add(((do! w.wait((do! w.wait((7i64).wrapping_add(6i64)))))).wrapping_add(a));
{
'l3: for mut b in 0..1i64 { w.log(b);
let mut stack = vec![a, b]; 'l4: while let Some(mut b) = stack.pop() { if w.is_tired() { break }
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);}
if (((a).wrapping_mul(c)).wrapping_sub(3i64)) > (((0i64).wrapping_mul(b)).wrapping_sub(4i64)){} else {
a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));}}}(do! w.wait(('l5: loop { if w.is_tired() { break 'l5 0i64 }break 'l5 b; })))} }
fn plain_15(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut c = 7i64;
if let Some(mut a) = w.wait_some(w.wait(w.wait(2i64)?)?)?{
let Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; }))? else {return Ok(End::TailCall((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))?;
w.log(4i64);8i64})))};
if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a)?;break 'l1 1i64; });} else {
let g1 = w.noisy(1);{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if (4i64) < (b){return Ok(End::TailCall(w.wait(7i64)?))}}if ((if (4i64) < ((((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64))){
a = a.wrapping_sub(c);
if ((1i64).wrapping_mul(1i64)) < (a){return Ok(End::TailCall((match (b).wrapping_add((2i64).wrapping_sub(a)){0 | 3 => {
let (mut a, [mut b, ..]) = w.wait_pair(a)?;a}n @ 1..=5 if n > 2 => {
b = b.wrapping_sub(7i64);
let mut b = ((6i64).wrapping_add(a)).wrapping_sub(c);((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))}n if n < a => {
let mut a = 7i64;6i64}_ => {
let mut b = w.wait(b)?;a}})))}7i64} else {
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))})) > (7i64){ drop(g1); }}}
let _g2 = w.noisy(2);
if let Some(mut b) = w.wait_some((w.check(3i64)?).wrapping_sub(w.wait((c).wrapping_add(a))?))?{}
let _g3 = w.noisy(3);
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let got = w.wait(4i64)?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);Ok(End::Value(c)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_15(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut c = 7i64;
if let Some(mut a) = w.wait_some(w.wait(w.wait(2i64).await?).await?).await?{
let Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; })).await? else {return Ok(End::TailCall((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))).await?;
w.log(4i64);8i64})))};
if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;break 'l1 1i64; });} else {
let g1 = w.noisy(1);{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if (4i64) < (b){return Ok(End::TailCall(w.wait(7i64).await?))}}if ((if (4i64) < ((((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64))){
a = a.wrapping_sub(c);
if ((1i64).wrapping_mul(1i64)) < (a){return Ok(End::TailCall((match (b).wrapping_add((2i64).wrapping_sub(a)){0 | 3 => {
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;a}n @ 1..=5 if n > 2 => {
b = b.wrapping_sub(7i64);
let mut b = ((6i64).wrapping_add(a)).wrapping_sub(c);((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))}n if n < a => {
let mut a = 7i64;6i64}_ => {
let mut b = w.wait(b).await?;a}})))}7i64} else {
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))})) > (7i64){ drop(g1); }}}
let _g2 = w.noisy(2);
if let Some(mut b) = w.wait_some((w.check(3i64)?).wrapping_sub(w.wait((c).wrapping_add(a)).await?)).await?{}
let _g3 = w.noisy(3);
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let got = w.wait(4i64).await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);Ok(End::Value(c)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_15(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut c = 7i64;
if let Some(mut a) = (do! w.wait_some((do! w.wait((do! w.wait(2i64)))))){
let! Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; })) else {return! w.wait((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let! mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))));
w.log(4i64);8i64}))};
if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let! (mut a, [mut b, ..]) = w.wait_pair(a);break 'l1 1i64; });} else {
let g1 = w.noisy(1);{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if (4i64) < (b){return! w.wait((do! w.wait(7i64)))}}if ((if (4i64) < ((((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64))){
a = a.wrapping_sub(c);
if ((1i64).wrapping_mul(1i64)) < (a){return! w.wait((match (b).wrapping_add((2i64).wrapping_sub(a)){0 | 3 => {
let! (mut a, [mut b, ..]) = w.wait_pair(a);a}n @ 1..=5 if n > 2 => {
b = b.wrapping_sub(7i64);
let mut b = ((6i64).wrapping_add(a)).wrapping_sub(c);((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))}n if n < a => {
let mut a = 7i64;6i64}_ => {
let! mut b = w.wait(b);a}}))}7i64} else {
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))})) > (7i64){ drop(g1); }}}
let _g2 = w.noisy(2);
if let Some(mut b) = (do! w.wait_some((w.check(3i64)?).wrapping_sub((do! w.wait((c).wrapping_add(a)))))){}
let _g3 = w.noisy(3);
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);c} }
fn plain_16(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
a = a.wrapping_add(w.wait((match w.wait(a)?{0 | 3 => {
let _g1 = w.noisy(1);
{
let (mut a, [mut c, ..]) = w.wait_pair(6i64)?;}b}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l0: while let Some(mut c) = stack.pop() { if w.is_tired() { break }}
let mut a = (if (1i64) > (a){c} else {
let mut a = 5i64;4i64});4i64}n if n < a => {7i64}_ => {
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = w.wait(4i64)?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
'l1: for mut a in 0..3i64 { w.log(a);
let mut c = (b).wrapping_mul(7i64);}0i64}}))?);
let mut stack = vec![a, b]; 'l2: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
let mut c = ({w.wait(6i64)?});
if (w.wait(w.wait(2i64)?)?) > (w.check(6i64)?){return Ok(End::Value(w.wait(b)?))}Ok(End::Value(a)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_16(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
a = a.wrapping_add(w.wait((match w.wait(a).await?{0 | 3 => {
let _g1 = w.noisy(1);
{
let (mut a, [mut c, ..]) = w.wait_pair(6i64).await?;}b}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l0: while let Some(mut c) = stack.pop() { if w.is_tired() { break }}
let mut a = (if (1i64) > (a){c} else {
let mut a = 5i64;4i64});4i64}n if n < a => {7i64}_ => {
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = w.wait(4i64).await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
'l1: for mut a in 0..3i64 { w.log(a);
let mut c = (b).wrapping_mul(7i64);}0i64}})).await?);
let mut stack = vec![a, b]; 'l2: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
let mut c = ({w.wait(6i64).await?});
if (w.wait(w.wait(2i64).await?).await?) > (w.check(6i64)?){return Ok(End::Value(w.wait(b).await?))}Ok(End::Value(a)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_16(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
a = a.wrapping_add((do! w.wait((match (do! w.wait(a)){0 | 3 => {
let _g1 = w.noisy(1);
{
let! (mut a, [mut c, ..]) = w.wait_pair(6i64);}b}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l0: while let Some(mut c) = stack.pop() { if w.is_tired() { break }}
let mut a = (if (1i64) > (a){c} else {
let mut a = 5i64;4i64});4i64}n if n < a => {7i64}_ => {
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
'l1: for mut a in 0..3i64 { w.log(a);
let mut c = (b).wrapping_mul(7i64);}0i64}}))));
let mut stack = vec![a, b]; 'l2: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
let mut c = ({(do! w.wait(6i64))});
if ((do! w.wait((do! w.wait(2i64))))) > (w.check(6i64)?){return ((do! w.wait(b)))}a} }
fn plain_17(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut stack = vec![a, b]; 'l0: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
if (w.wait((match (b).wrapping_mul(b){0 | 3 => {
let (mut a, [mut c, ..]) = w.wait_pair(b)?;
a = a.wrapping_sub(6i64);5i64}n @ 1..=5 if n > 2 => {1i64}n if n < a => {
let mut a = c;a}_ => {5i64}}))?) < ((match a{0 | 3 => {
if (c) < ((a).wrapping_add((((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64))){return Ok(End::TailCall(0i64))}(2i64).wrapping_add(6i64)}n @ 1..=5 if n > 2 => {(0i64).wrapping_add((6i64).wrapping_sub(b))}n if n < a => {
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);b}_ => {
let (mut a, [mut b, ..]) = w.wait_pair(a)?;1i64}})){return Ok(End::Value(w.wait((((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).wrapping_mul(((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))))?))}
w.log(b);
'l2: while !w.is_tired() && ((match (if (4i64) < (1i64){
let mut b = 2i64;((b).wrapping_add(c)).wrapping_sub(c)} else {6i64}){0 | 3 => {
if let Some(mut b) = w.wait_some((c).wrapping_mul(b))?{
if ((c).wrapping_add(2i64)) < (c){return Ok(End::Value(w.wait(7i64)?))}}4i64}n @ 1..=5 if n > 2 => {b}n if n < a => {
'l1: for mut a in 0..3i64 { w.log(a);}c}_ => {
w.log(w.check((c).wrapping_mul(c))?);b}})) > (w.wait(1i64)?){}
let mut c = c;
let mut c = w.wait((|v: i64| { if v > 4 { return a } v.wrapping_mul(a) })(c))?;Ok(End::Value(3i64)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_17(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut stack = vec![a, b]; 'l0: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
if (w.wait((match (b).wrapping_mul(b){0 | 3 => {
let (mut a, [mut c, ..]) = w.wait_pair(b).await?;
a = a.wrapping_sub(6i64);5i64}n @ 1..=5 if n > 2 => {1i64}n if n < a => {
let mut a = c;a}_ => {5i64}})).await?) < ((match a{0 | 3 => {
if (c) < ((a).wrapping_add((((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64))){return Ok(End::TailCall(0i64))}(2i64).wrapping_add(6i64)}n @ 1..=5 if n > 2 => {(0i64).wrapping_add((6i64).wrapping_sub(b))}n if n < a => {
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);b}_ => {
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;1i64}})){return Ok(End::Value(w.wait((((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).wrapping_mul(((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64)))).await?))}
w.log(b);
'l2: while !w.is_tired() && ((match (if (4i64) < (1i64){
let mut b = 2i64;((b).wrapping_add(c)).wrapping_sub(c)} else {6i64}){0 | 3 => {
if let Some(mut b) = w.wait_some((c).wrapping_mul(b)).await?{
if ((c).wrapping_add(2i64)) < (c){return Ok(End::Value(w.wait(7i64).await?))}}4i64}n @ 1..=5 if n > 2 => {b}n if n < a => {
'l1: for mut a in 0..3i64 { w.log(a);}c}_ => {
w.log(w.check((c).wrapping_mul(c))?);b}})) > (w.wait(1i64).await?){}
let mut c = c;
let mut c = w.wait((|v: i64| { if v > 4 { return a } v.wrapping_mul(a) })(c)).await?;Ok(End::Value(3i64)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_17(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut stack = vec![a, b]; 'l0: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
if ((do! w.wait((match (b).wrapping_mul(b){0 | 3 => {
let! (mut a, [mut c, ..]) = w.wait_pair(b);
a = a.wrapping_sub(6i64);5i64}n @ 1..=5 if n > 2 => {1i64}n if n < a => {
let mut a = c;a}_ => {5i64}})))) < ((match a{0 | 3 => {
if (c) < ((a).wrapping_add((((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64))){return! w.wait(0i64)}(2i64).wrapping_add(6i64)}n @ 1..=5 if n > 2 => {(0i64).wrapping_add((6i64).wrapping_sub(b))}n if n < a => {
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);b}_ => {
let! (mut a, [mut b, ..]) = w.wait_pair(a);1i64}})){return ((do! w.wait((((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).wrapping_mul(((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))))))}
w.log(b);
'l2: while !w.is_tired() && ((match (if (4i64) < (1i64){
let mut b = 2i64;((b).wrapping_add(c)).wrapping_sub(c)} else {6i64}){0 | 3 => {
if let Some(mut b) = (do! w.wait_some((c).wrapping_mul(b))){
if ((c).wrapping_add(2i64)) < (c){return ((do! w.wait(7i64)))}}4i64}n @ 1..=5 if n > 2 => {b}n if n < a => {
'l1: for mut a in 0..3i64 { w.log(a);}c}_ => {
w.log(w.check((c).wrapping_mul(c))?);b}})) > ((do! w.wait(1i64))){}
let mut c = c;
let! mut c = w.wait((|v: i64| { if v > 4 { return a } v.wrapping_mul(a) })(c));3i64} }
fn plain_18(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let (mut a, [mut c, ..]) = w.wait_pair((match w.wait(a)?{0 | 3 => {
let _g1 = w.noisy(1);
{
let (mut a, [mut c, ..]) = w.wait_pair(6i64)?;}b}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l0: while let Some(mut c) = stack.pop() { if w.is_tired() { break }}
let mut a = (if (1i64) > (a){c} else {
let mut a = 5i64;4i64});4i64}n if n < a => {7i64}_ => {
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = w.wait(4i64)?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
'l1: for mut a in 0..3i64 { w.log(a);
let mut c = (b).wrapping_mul(7i64);}0i64}}))?;
let mut stack = vec![a, b]; 'l2: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
let mut c = ({w.wait(6i64)?});
if (w.wait(w.wait(2i64)?)?) > (w.check(6i64)?){return Ok(End::Value(w.wait(b)?))}
{}
if ((if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l3: loop { if w.is_tired() { break 'l3 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a)?;break 'l3 1i64; });c} else {
'l4: while !w.is_tired() && ((c).wrapping_add(c)) < ((6i64).wrapping_mul(b)){
w.log((a).wrapping_mul((c).wrapping_add(6i64)));
let (mut a, [mut c, ..]) = w.wait_pair((c).wrapping_sub((a).wrapping_add(b)))?;}
if let Some(mut a) = w.wait_some((b).wrapping_add((2i64).wrapping_sub(a)))?{
let (mut a, [mut b, ..]) = w.wait_pair(a)?;}a})) > (({
if (b) < (c){return Ok(End::TailCall(c))}6i64})){
if let Some(mut b) = w.wait_some(w.wait(((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64)))?)?{
a = w.wait(6i64)?;}} else {
if (w.wait(b)?) < (8i64){return Ok(End::TailCall(w.wait(c)?))}}Ok(End::Value(4i64)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_18(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let (mut a, [mut c, ..]) = w.wait_pair((match w.wait(a).await?{0 | 3 => {
let _g1 = w.noisy(1);
{
let (mut a, [mut c, ..]) = w.wait_pair(6i64).await?;}b}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l0: while let Some(mut c) = stack.pop() { if w.is_tired() { break }}
let mut a = (if (1i64) > (a){c} else {
let mut a = 5i64;4i64});4i64}n if n < a => {7i64}_ => {
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = w.wait(4i64).await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
'l1: for mut a in 0..3i64 { w.log(a);
let mut c = (b).wrapping_mul(7i64);}0i64}})).await?;
let mut stack = vec![a, b]; 'l2: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
let mut c = ({w.wait(6i64).await?});
if (w.wait(w.wait(2i64).await?).await?) > (w.check(6i64)?){return Ok(End::Value(w.wait(b).await?))}
{}
if ((if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l3: loop { if w.is_tired() { break 'l3 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;break 'l3 1i64; });c} else {
'l4: while !w.is_tired() && ((c).wrapping_add(c)) < ((6i64).wrapping_mul(b)){
w.log((a).wrapping_mul((c).wrapping_add(6i64)));
let (mut a, [mut c, ..]) = w.wait_pair((c).wrapping_sub((a).wrapping_add(b))).await?;}
if let Some(mut a) = w.wait_some((b).wrapping_add((2i64).wrapping_sub(a))).await?{
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;}a})) > (({
if (b) < (c){return Ok(End::TailCall(c))}6i64})){
if let Some(mut b) = w.wait_some(w.wait(((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))).await?).await?{
a = w.wait(6i64).await?;}} else {
if (w.wait(b).await?) < (8i64){return Ok(End::TailCall(w.wait(c).await?))}}Ok(End::Value(4i64)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_18(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let! (mut a, [mut c, ..]) = w.wait_pair((match (do! w.wait(a)){0 | 3 => {
let _g1 = w.noisy(1);
{
let! (mut a, [mut c, ..]) = w.wait_pair(6i64);}b}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l0: while let Some(mut c) = stack.pop() { if w.is_tired() { break }}
let mut a = (if (1i64) > (a){c} else {
let mut a = 5i64;4i64});4i64}n if n < a => {7i64}_ => {
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
'l1: for mut a in 0..3i64 { w.log(a);
let mut c = (b).wrapping_mul(7i64);}0i64}}));
let mut stack = vec![a, b]; 'l2: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
let mut c = ({(do! w.wait(6i64))});
if ((do! w.wait((do! w.wait(2i64))))) > (w.check(6i64)?){return ((do! w.wait(b)))}
{}
if ((if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l3: loop { if w.is_tired() { break 'l3 0i64 }
let! (mut a, [mut b, ..]) = w.wait_pair(a);break 'l3 1i64; });c} else {
'l4: while !w.is_tired() && ((c).wrapping_add(c)) < ((6i64).wrapping_mul(b)){
w.log((a).wrapping_mul((c).wrapping_add(6i64)));
let! (mut a, [mut c, ..]) = w.wait_pair((c).wrapping_sub((a).wrapping_add(b)));}
if let Some(mut a) = (do! w.wait_some((b).wrapping_add((2i64).wrapping_sub(a)))){
let! (mut a, [mut b, ..]) = w.wait_pair(a);}a})) > (({
if (b) < (c){return! w.wait(c)}6i64})){
if let Some(mut b) = (do! w.wait_some((do! w.wait(((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64)))))){
a = (do! w.wait(6i64));}} else {
if ((do! w.wait(b))) < (8i64){return! w.wait((do! w.wait(c)))}}4i64} }
fn plain_19(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if let Some(mut a) = w.wait_some(w.wait(w.wait(2i64)?)?)?{
let Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; }))? else {return Ok(End::TailCall((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))?;
w.log(4i64);8i64})))};
if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a)?;break 'l1 1i64; });} else {
let g1 = w.noisy(1);{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if (4i64) < (b){return Ok(End::TailCall(w.wait(7i64)?))}}if ((if (4i64) < ((((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64))){
a = a.wrapping_sub(c);
if ((1i64).wrapping_mul(1i64)) < (a){return Ok(End::TailCall((match (b).wrapping_add((2i64).wrapping_sub(a)){0 | 3 => {
let (mut a, [mut b, ..]) = w.wait_pair(a)?;a}n @ 1..=5 if n > 2 => {
b = b.wrapping_sub(7i64);
let mut b = ((6i64).wrapping_add(a)).wrapping_sub(c);((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))}n if n < a => {
let mut a = 7i64;6i64}_ => {
let mut b = w.wait(b)?;a}})))}7i64} else {
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))})) > (7i64){ drop(g1); }}}
let _g2 = w.noisy(2);
if let Some(mut b) = w.wait_some((w.check(3i64)?).wrapping_sub(w.wait((c).wrapping_add(a))?))?{}
let _g3 = w.noisy(3);
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let got = w.wait(4i64)?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);
let Some(mut c) = w.wait_some(('l2: loop { if w.is_tired() { break 'l2 0i64 }
'l3: while !w.is_tired() && (b) < ((4i64).wrapping_add(b)){
let mut c = w.wait(b)?;
let (mut a, [mut c, ..]) = w.wait_pair(b)?;}break 'l2 ((7i64).wrapping_sub(2i64)).wrapping_sub(0i64); }))? else {return Ok(End::Value(w.wait(a)?))};
if let Some(mut c) = w.wait_some((if (((6i64).wrapping_sub(((1i64).wrapping_sub(((5i64).wrapping_add(6i64)).wrapping_sub(2i64))).wrapping_mul(c))).wrapping_mul(b)) < (((a).wrapping_sub(a)).wrapping_add((c).wrapping_add(c))){0i64} else {
if (a) > (b){
let _g4 = w.noisy(4);} else {}6i64}))?{
if (w.wait(((c).wrapping_add((c).wrapping_mul(8i64))).wrapping_add((a).wrapping_sub((1i64).wrapping_mul(1i64))))?) < (c){
'l4: while !w.is_tired() && (b) < (6i64){}} else {}}
if (0i64) < (c){return Ok(End::TailCall(w.check(b)?))}Ok(End::Value((|v: i64| { if v > 4 { return b } v.wrapping_mul(b) })(c))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_19(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if let Some(mut a) = w.wait_some(w.wait(w.wait(2i64).await?).await?).await?{
let Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; })).await? else {return Ok(End::TailCall((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))).await?;
w.log(4i64);8i64})))};
if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;break 'l1 1i64; });} else {
let g1 = w.noisy(1);{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if (4i64) < (b){return Ok(End::TailCall(w.wait(7i64).await?))}}if ((if (4i64) < ((((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64))){
a = a.wrapping_sub(c);
if ((1i64).wrapping_mul(1i64)) < (a){return Ok(End::TailCall((match (b).wrapping_add((2i64).wrapping_sub(a)){0 | 3 => {
let (mut a, [mut b, ..]) = w.wait_pair(a).await?;a}n @ 1..=5 if n > 2 => {
b = b.wrapping_sub(7i64);
let mut b = ((6i64).wrapping_add(a)).wrapping_sub(c);((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))}n if n < a => {
let mut a = 7i64;6i64}_ => {
let mut b = w.wait(b).await?;a}})))}7i64} else {
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))})) > (7i64){ drop(g1); }}}
let _g2 = w.noisy(2);
if let Some(mut b) = w.wait_some((w.check(3i64)?).wrapping_sub(w.wait((c).wrapping_add(a)).await?)).await?{}
let _g3 = w.noisy(3);
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let got = w.wait(4i64).await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);
let Some(mut c) = w.wait_some(('l2: loop { if w.is_tired() { break 'l2 0i64 }
'l3: while !w.is_tired() && (b) < ((4i64).wrapping_add(b)){
let mut c = w.wait(b).await?;
let (mut a, [mut c, ..]) = w.wait_pair(b).await?;}break 'l2 ((7i64).wrapping_sub(2i64)).wrapping_sub(0i64); })).await? else {return Ok(End::Value(w.wait(a).await?))};
if let Some(mut c) = w.wait_some((if (((6i64).wrapping_sub(((1i64).wrapping_sub(((5i64).wrapping_add(6i64)).wrapping_sub(2i64))).wrapping_mul(c))).wrapping_mul(b)) < (((a).wrapping_sub(a)).wrapping_add((c).wrapping_add(c))){0i64} else {
if (a) > (b){
let _g4 = w.noisy(4);} else {}6i64})).await?{
if (w.wait(((c).wrapping_add((c).wrapping_mul(8i64))).wrapping_add((a).wrapping_sub((1i64).wrapping_mul(1i64)))).await?) < (c){
'l4: while !w.is_tired() && (b) < (6i64){}} else {}}
if (0i64) < (c){return Ok(End::TailCall(w.check(b)?))}Ok(End::Value((|v: i64| { if v > 4 { return b } v.wrapping_mul(b) })(c))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_19(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if let Some(mut a) = (do! w.wait_some((do! w.wait((do! w.wait(2i64)))))){
let! Some(mut b) = w.wait_some(('l0: loop { if w.is_tired() { break 'l0 0i64 }
if (1i64) < (c){break 'l0 (match (3i64).wrapping_add((1i64).wrapping_add(a)){0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut a = 5i64;4i64}n if n < a => {a}_ => {c}})}break 'l0 a; })) else {return! w.wait((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)) < (7i64){2i64} else {
let! mut a = w.wait((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))));
w.log(4i64);8i64}))};
if (1i64) > ((a).wrapping_mul(3i64)){
let mut b = ('l1: loop { if w.is_tired() { break 'l1 0i64 }
let! (mut a, [mut b, ..]) = w.wait_pair(a);break 'l1 1i64; });} else {
let g1 = w.noisy(1);{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if (4i64) < (b){return! w.wait((do! w.wait(7i64)))}}if ((if (4i64) < ((((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64))){
a = a.wrapping_sub(c);
if ((1i64).wrapping_mul(1i64)) < (a){return! w.wait((match (b).wrapping_add((2i64).wrapping_sub(a)){0 | 3 => {
let! (mut a, [mut b, ..]) = w.wait_pair(a);a}n @ 1..=5 if n > 2 => {
b = b.wrapping_sub(7i64);
let mut b = ((6i64).wrapping_add(a)).wrapping_sub(c);((b).wrapping_sub(c)).wrapping_sub((c).wrapping_add(2i64))}n if n < a => {
let mut a = 7i64;6i64}_ => {
let! mut b = w.wait(b);a}}))}7i64} else {
let mut a = c;
let mut b = ((a).wrapping_sub(1i64)).wrapping_sub(3i64);(((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))})) > (7i64){ drop(g1); }}}
let _g2 = w.noisy(2);
if let Some(mut b) = (do! w.wait_some((w.check(3i64)?).wrapping_sub((do! w.wait((c).wrapping_add(a)))))){}
let _g3 = w.noisy(3);
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);
let! Some(mut c) = w.wait_some(('l2: loop { if w.is_tired() { break 'l2 0i64 }
'l3: while !w.is_tired() && (b) < ((4i64).wrapping_add(b)){
let! mut c = w.wait(b);
let! (mut a, [mut c, ..]) = w.wait_pair(b);}break 'l2 ((7i64).wrapping_sub(2i64)).wrapping_sub(0i64); })) else {return ((do! w.wait(a)))};
if let Some(mut c) = (do! w.wait_some((if (((6i64).wrapping_sub(((1i64).wrapping_sub(((5i64).wrapping_add(6i64)).wrapping_sub(2i64))).wrapping_mul(c))).wrapping_mul(b)) < (((a).wrapping_sub(a)).wrapping_add((c).wrapping_add(c))){0i64} else {
if (a) > (b){
let _g4 = w.noisy(4);} else {}6i64}))){
if ((do! w.wait(((c).wrapping_add((c).wrapping_mul(8i64))).wrapping_add((a).wrapping_sub((1i64).wrapping_mul(1i64)))))) < (c){
'l4: while !w.is_tired() && (b) < (6i64){}} else {}}
if (0i64) < (c){return! w.wait(w.check(b)?)}(|v: i64| { if v > 4 { return b } v.wrapping_mul(b) })(c)} }
type Program = (fn(&Plain, i64) -> Result<i64, Error>, fn(&Async, i64) -> Fiber<i64>, fn(&Async, i64) -> Fiber<i64>);
pub(crate) const PROGRAMS: [Program; 20] = [(plain_0, async_0, fiber_0),(plain_1, async_1, fiber_1),(plain_2, async_2, fiber_2),(plain_3, async_3, fiber_3),(plain_4, async_4, fiber_4),(plain_5, async_5, fiber_5),(plain_6, async_6, fiber_6),(plain_7, async_7, fiber_7),(plain_8, async_8, fiber_8),(plain_9, async_9, fiber_9),(plain_10, async_10, fiber_10),(plain_11, async_11, fiber_11),(plain_12, async_12, fiber_12),(plain_13, async_13, fiber_13),(plain_14, async_14, fiber_14),(plain_15, async_15, fiber_15),(plain_16, async_16, fiber_16),(plain_17, async_17, fiber_17),(plain_18, async_18, fiber_18),(plain_19, async_19, fiber_19),];