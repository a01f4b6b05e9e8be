//! Written by `generator.rs`: see `main.rs` for how to write it anew.

use super::world::{Async, End, Pair, Plain};
use fiber_core::{Error, Fiber, fiber};
fn plain_0(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let (mut a, [mut c, ..]) = { let argument = w.wait((match 5i64{0 | 3 => {
let mut c = { let argument = b; w.wait(argument) }?;
let mut a = { let argument = (5i64).wrapping_sub(7i64); w.wait(argument) }?;6i64}n @ 1..=5 if n > 2 => {a}n if n < a => {
if b < c{return Ok(End::TailCall(w.wait(1i64)?))}
a = a.wrapping_sub(6i64);5i64}_ => {1i64}}))?; w.wait_pair(argument) }?;
{}
let mut b = { let argument = w.wait(w.beside(&w.noisy(1), 0i64))?; w.wait(argument) }?;
let (mut a, [mut c, ..]) = { let argument = w.wait((if a < 7i64{
w.log(7i64);
if c < ((a).wrapping_sub(a)).wrapping_mul(6i64){return Ok(End::TailCall(w.beside(&w.noisy(2), 0i64)))}(2i64).wrapping_add(6i64)} else {(0i64).wrapping_add((6i64).wrapping_sub(b))}))?; w.wait_pair(argument) }?;Ok(End::Value(('l0: loop { if w.is_tired() { break 'l0 0i64 }break 'l0 a; }))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let (mut a, [mut c, ..]) = { let fiber = w.wait_pair(w.wait((match 5i64{0 | 3 => {
let mut c = { let fiber = w.wait(b); fiber }.await?;
let mut a = { let fiber = w.wait((5i64).wrapping_sub(7i64)); fiber }.await?;6i64}n @ 1..=5 if n > 2 => {a}n if n < a => {
if b < c{return Ok(End::TailCall(w.wait(1i64).await?))}
a = a.wrapping_sub(6i64);5i64}_ => {1i64}})).await?); fiber }.await?;
{}
let mut b = { let fiber = w.wait(w.wait(w.beside(&w.noisy(1), 0i64)).await?); fiber }.await?;
let (mut a, [mut c, ..]) = { let fiber = w.wait_pair(w.wait((if a < 7i64{
w.log(7i64);
if c < ((a).wrapping_sub(a)).wrapping_mul(6i64){return Ok(End::TailCall(w.beside(&w.noisy(2), 0i64)))}(2i64).wrapping_add(6i64)} else {(0i64).wrapping_add((6i64).wrapping_sub(b))})).await?); fiber }.await?;Ok(End::Value(('l0: loop { if w.is_tired() { break 'l0 0i64 }break 'l0 a; }))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let! (mut a, [mut c, ..]) = w.wait_pair(do! w.wait((match 5i64{0 | 3 => {
let! mut c = w.wait(b);
let! mut a = w.wait((5i64).wrapping_sub(7i64));6i64}n @ 1..=5 if n > 2 => {a}n if n < a => {
if b < c{return! w.wait(do! w.wait(1i64))}
a = a.wrapping_sub(6i64);5i64}_ => {1i64}})));
{}
let! mut b = w.wait(do! w.wait(w.beside(&w.noisy(1), 0i64)));
let! (mut a, [mut c, ..]) = w.wait_pair(do! w.wait((if a < 7i64{
w.log(7i64);
if c < ((a).wrapping_sub(a)).wrapping_mul(6i64){return! w.wait(w.beside(&w.noisy(2), 0i64))}(2i64).wrapping_add(6i64)} else {(0i64).wrapping_add((6i64).wrapping_sub(b))})));('l0: loop { if w.is_tired() { break 'l0 0i64 }break 'l0 a; })} }
fn plain_1(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let got = { let argument = 4i64; w.wait(argument) }?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);
'l0: while !w.is_tired() && c < c{
if c > a{continue 'l0}}
'l1: for mut b in 0..1i64 { w.log(b);
let mut b = (if !((1i64).wrapping_add(c) < 2i64){3i64} else {
let Some(mut a) = { let argument = b; w.wait_some(argument) }? else {break 'l1 };
let Some(mut a) = { let argument = 5i64; w.wait_some(argument) }? else {break 'l1 };7i64});
'l2: while !w.is_tired() && b < 5i64{
let mut c = (if b < 7i64{6i64} else {
let _ = w.noisy(1);(3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))});}}
'l3: for mut a in 0..2i64 { w.log(a);}Ok(End::Value({ let argument = (match (1i64).wrapping_add((a).wrapping_mul(3i64)){0 | 3 => {
let (mut a, [mut b, ..]) = { let argument = b; w.wait_pair(argument) }?;(a).wrapping_sub(1i64)}n @ 1..=5 if n > 2 => {
let (mut a, [mut b, ..]) = { let argument = ((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b)); w.wait_pair(argument) }?;((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))}n if n < a => {
let mut b = c;
a = a.wrapping_sub(a);a}_ => {
if a < (c).wrapping_mul(7i64){return Ok(End::Value(4i64))}c}}); w.wait(argument) }?)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let got = { let fiber = w.wait(4i64); fiber }.await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);
'l0: while !w.is_tired() && c < c{
if c > a{continue 'l0}}
'l1: for mut b in 0..1i64 { w.log(b);
let mut b = (if !((1i64).wrapping_add(c) < 2i64){3i64} else {
let Some(mut a) = { let fiber = w.wait_some(b); fiber }.await? else {break 'l1 };
let Some(mut a) = { let fiber = w.wait_some(5i64); fiber }.await? else {break 'l1 };7i64});
'l2: while !w.is_tired() && b < 5i64{
let mut c = (if b < 7i64{6i64} else {
let _ = w.noisy(1);(3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))});}}
'l3: for mut a in 0..2i64 { w.log(a);}Ok(End::Value({ let fiber = w.wait((match (1i64).wrapping_add((a).wrapping_mul(3i64)){0 | 3 => {
let (mut a, [mut b, ..]) = { let fiber = w.wait_pair(b); fiber }.await?;(a).wrapping_sub(1i64)}n @ 1..=5 if n > 2 => {
let (mut a, [mut b, ..]) = { let fiber = w.wait_pair(((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))); fiber }.await?;((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))}n if n < a => {
let mut b = c;
a = a.wrapping_sub(a);a}_ => {
if a < (c).wrapping_mul(7i64){return Ok(End::Value(4i64))}c}})); fiber }.await?)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);
'l0: while !w.is_tired() && c < c{
if c > a{continue 'l0}}
'l1: for mut b in 0..1i64 { w.log(b);
let mut b = (if !((1i64).wrapping_add(c) < 2i64){3i64} else {
let! Some(mut a) = w.wait_some(b) else {break 'l1 };
let! Some(mut a) = w.wait_some(5i64) else {break 'l1 };7i64});
'l2: while !w.is_tired() && b < 5i64{
let mut c = (if b < 7i64{6i64} else {
let _ = w.noisy(1);(3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))});}}
'l3: for mut a in 0..2i64 { w.log(a);}do! w.wait((match (1i64).wrapping_add((a).wrapping_mul(3i64)){0 | 3 => {
let! (mut a, [mut b, ..]) = w.wait_pair(b);(a).wrapping_sub(1i64)}n @ 1..=5 if n > 2 => {
let! (mut a, [mut b, ..]) = w.wait_pair(((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b)));((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))}n if n < a => {
let mut b = c;
a = a.wrapping_sub(a);a}_ => {
if a < (c).wrapping_mul(7i64){return (4i64)}c}}))} }
fn plain_2(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut stack = vec![a, b]; 'l0: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
let mut c = { let argument = c; w.wait(argument) }?;
if let Some(mut b) = w.wait_some(a)?{
let g1 = w.noisy(1);{}if w.check(6i64)? < 4i64{ drop(g1); }}
'l1: while !w.is_tired() && ((if (1i64).wrapping_add(c) < 2i64{3i64} else {
w.log(1i64);
a = c;a})).wrapping_sub(w.wait(5i64)?) < w.wait(a)?{
'l2: while !w.is_tired() && w.wait((7i64).wrapping_mul(5i64))? < c{
if b < 7i64{} else {}
if 0i64 < (3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))){
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);} else {
let mut b = { let argument = (a).wrapping_sub(1i64); w.wait(argument) }?;}}}
if 4i64 < (((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64)) && 6i64 < ((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64) && w.check(b)? < (2i64).wrapping_sub(a){
b = b.wrapping_add(w.check(6i64)?);} else {
let mut b = w.check(7i64)?;
let argument = ({6i64}); let held = w.wait_some(argument); if let Some(mut c) = held? {
{
let mut c = { let argument = c; w.wait(argument) }?;}}}
if let Some(mut b) = w.wait_some((if !((c).wrapping_add(2i64) < c){7i64} else {4i64}))?{
let mut b = (w.check(7i64)?).wrapping_add(w.wait(a)?);}
'l3: while !w.is_tired() && !(c < b) && w.beside(&w.noisy(2), a) > 5i64{
let mut b = { let argument = w.beside(&w.noisy(3), (7i64).wrapping_sub((2i64).wrapping_add(c))); w.wait(argument) }?;}
let Some(mut a) = { let argument = w.wait((if 4i64 < 7i64{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if 4i64 < b{return Ok(End::TailCall(w.wait(7i64)?))}(4i64).wrapping_sub((a).wrapping_sub(0i64))} else {
b = b.wrapping_sub(a);
let (mut a, [mut b, ..]) = { let argument = c; w.wait_pair(argument) }?;b}))?; w.wait_some(argument) }? else {return Ok(End::TailCall(w.check(b)?))};Ok(End::Value((('l4: loop { if w.is_tired() { break 'l4 0i64 }
a = a.wrapping_add(b);
b = b.wrapping_sub(b);break 'l4 a; })).wrapping_sub(w.check(c)?))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut stack = vec![a, b]; 'l0: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
let mut c = { let fiber = w.wait(c); fiber }.await?;
if let Some(mut b) = w.wait_some(a).await?{
let g1 = w.noisy(1);{}if w.check(6i64)? < 4i64{ drop(g1); }}
'l1: while !w.is_tired() && ((if (1i64).wrapping_add(c) < 2i64{3i64} else {
w.log(1i64);
a = c;a})).wrapping_sub(w.wait(5i64).await?) < w.wait(a).await?{
'l2: while !w.is_tired() && w.wait((7i64).wrapping_mul(5i64)).await? < c{
if b < 7i64{} else {}
if 0i64 < (3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))){
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);} else {
let mut b = { let fiber = w.wait((a).wrapping_sub(1i64)); fiber }.await?;}}}
if 4i64 < (((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64)) && 6i64 < ((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64) && w.check(b)? < (2i64).wrapping_sub(a){
b = b.wrapping_add(w.check(6i64)?);} else {
let mut b = w.check(7i64)?;
let argument = ({6i64}); let held = w.wait_some(argument); if let Some(mut c) = held.await? {
{
let mut c = { let fiber = w.wait(c); fiber }.await?;}}}
if let Some(mut b) = w.wait_some((if !((c).wrapping_add(2i64) < c){7i64} else {4i64})).await?{
let mut b = (w.check(7i64)?).wrapping_add(w.wait(a).await?);}
'l3: while !w.is_tired() && !(c < b) && w.beside(&w.noisy(2), a) > 5i64{
let mut b = { let fiber = w.wait(w.beside(&w.noisy(3), (7i64).wrapping_sub((2i64).wrapping_add(c)))); fiber }.await?;}
let Some(mut a) = { let fiber = w.wait_some(w.wait((if 4i64 < 7i64{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if 4i64 < b{return Ok(End::TailCall(w.wait(7i64).await?))}(4i64).wrapping_sub((a).wrapping_sub(0i64))} else {
b = b.wrapping_sub(a);
let (mut a, [mut b, ..]) = { let fiber = w.wait_pair(c); fiber }.await?;b})).await?); fiber }.await? else {return Ok(End::TailCall(w.check(b)?))};Ok(End::Value((('l4: loop { if w.is_tired() { break 'l4 0i64 }
a = a.wrapping_add(b);
b = b.wrapping_sub(b);break 'l4 a; })).wrapping_sub(w.check(c)?))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut stack = vec![a, b]; 'l0: while let Some(mut b) = stack.pop() { if w.is_tired() { break }}
let! mut c = w.wait(c);
if let Some(mut b) = do! w.wait_some(a){
let g1 = w.noisy(1);{}if w.check(6i64)? < 4i64{ drop(g1); }}
'l1: while !w.is_tired() && ((if (1i64).wrapping_add(c) < 2i64{3i64} else {
w.log(1i64);
a = c;a})).wrapping_sub(do! w.wait(5i64)) < do! w.wait(a){
'l2: while !w.is_tired() && do! w.wait((7i64).wrapping_mul(5i64)) < c{
if b < 7i64{} else {}
if 0i64 < (3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))){
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);} else {
let! mut b = w.wait((a).wrapping_sub(1i64));}}}
if 4i64 < (((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64)) && 6i64 < ((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64) && w.check(b)? < (2i64).wrapping_sub(a){
b = b.wrapping_add(w.check(6i64)?);} else {
let mut b = w.check(7i64)?;
let argument = ({6i64}); let held = w.wait_some(argument); if let Some(mut c) = do! held {
{
let! mut c = w.wait(c);}}}
if let Some(mut b) = do! w.wait_some((if !((c).wrapping_add(2i64) < c){7i64} else {4i64})){
let mut b = (w.check(7i64)?).wrapping_add(do! w.wait(a));}
'l3: while !w.is_tired() && !(c < b) && w.beside(&w.noisy(2), a) > 5i64{
let! mut b = w.wait(w.beside(&w.noisy(3), (7i64).wrapping_sub((2i64).wrapping_add(c))));}
let! Some(mut a) = w.wait_some(do! w.wait((if 4i64 < 7i64{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if 4i64 < b{return! w.wait(do! w.wait(7i64))}(4i64).wrapping_sub((a).wrapping_sub(0i64))} else {
b = b.wrapping_sub(a);
let! (mut a, [mut b, ..]) = w.wait_pair(c);b}))) else {return! w.wait(w.check(b)?)};(('l4: loop { if w.is_tired() { break 'l4 0i64 }
a = a.wrapping_add(b);
b = b.wrapping_sub(b);break 'l4 a; })).wrapping_sub(w.check(c)?)} }
fn plain_3(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
'l0: while !w.is_tired() && c < c{
if c > a{continue 'l0}}
'l1: for mut b in 0..1i64 { w.log(b);
let mut b = (if !((1i64).wrapping_add(c) < 2i64){3i64} else {
let Some(mut a) = { let argument = b; w.wait_some(argument) }? else {break 'l1 };
let Some(mut a) = { let argument = 5i64; w.wait_some(argument) }? else {break 'l1 };7i64});
'l2: while !w.is_tired() && b < 5i64{
let mut c = (if b < 7i64{6i64} else {
let _ = w.noisy(1);(3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))});}}
'l3: for mut a in 0..2i64 { w.log(a);}
b = b.wrapping_sub(w.wait(w.check(w.wait((a).wrapping_mul(3i64))?)?)?);
if w.check((if (a).wrapping_sub(1i64) < c{
let mut c = (c).wrapping_add(c);
w.log((4i64).wrapping_add(c));c} else {
let _ = w.noisy(2);
a = a.wrapping_add((8i64).wrapping_add(c));b}))? > c{} else {
let Some(mut b) = { let argument = ({(b).wrapping_add((2i64).wrapping_sub(a))}); w.wait_some(argument) }? else {return Ok(End::Value(0i64))};}
if 6i64 > w.wait(((b).wrapping_add(c)).wrapping_sub(c))?{} else {}
let argument = w.wait(c)?; let held = w.wait_some(argument); if let Some(mut a) = held? {
if w.check(b)? < (1i64).wrapping_mul((((7i64).wrapping_add(6i64)).wrapping_sub(a)).wrapping_add(b)){
if (c).wrapping_add(a) < c{
w.log(((a).wrapping_sub(1i64)).wrapping_sub(3i64));
b = b.wrapping_sub(c);} else {
if c < 3i64{return Ok(End::Value((if (0i64).wrapping_mul(b) < 4i64{c} else {2i64})))}
w.log(a);}} else {
'l4: while !w.is_tired() && ((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64) < (4i64).wrapping_sub(b){}
if let Some(mut b) = w.wait_some(c)?{}}}
let g3 = w.noisy(3);{}if !(3i64 < 5i64){ drop(g3); }Ok(End::Value(w.beside(&w.noisy(4), w.beside(&w.noisy(5), a)))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
'l0: while !w.is_tired() && c < c{
if c > a{continue 'l0}}
'l1: for mut b in 0..1i64 { w.log(b);
let mut b = (if !((1i64).wrapping_add(c) < 2i64){3i64} else {
let Some(mut a) = { let fiber = w.wait_some(b); fiber }.await? else {break 'l1 };
let Some(mut a) = { let fiber = w.wait_some(5i64); fiber }.await? else {break 'l1 };7i64});
'l2: while !w.is_tired() && b < 5i64{
let mut c = (if b < 7i64{6i64} else {
let _ = w.noisy(1);(3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))});}}
'l3: for mut a in 0..2i64 { w.log(a);}
b = b.wrapping_sub(w.wait(w.check(w.wait((a).wrapping_mul(3i64)).await?)?).await?);
if w.check((if (a).wrapping_sub(1i64) < c{
let mut c = (c).wrapping_add(c);
w.log((4i64).wrapping_add(c));c} else {
let _ = w.noisy(2);
a = a.wrapping_add((8i64).wrapping_add(c));b}))? > c{} else {
let Some(mut b) = { let fiber = w.wait_some(({(b).wrapping_add((2i64).wrapping_sub(a))})); fiber }.await? else {return Ok(End::Value(0i64))};}
if 6i64 > w.wait(((b).wrapping_add(c)).wrapping_sub(c)).await?{} else {}
let argument = w.wait(c).await?; let held = w.wait_some(argument); if let Some(mut a) = held.await? {
if w.check(b)? < (1i64).wrapping_mul((((7i64).wrapping_add(6i64)).wrapping_sub(a)).wrapping_add(b)){
if (c).wrapping_add(a) < c{
w.log(((a).wrapping_sub(1i64)).wrapping_sub(3i64));
b = b.wrapping_sub(c);} else {
if c < 3i64{return Ok(End::Value((if (0i64).wrapping_mul(b) < 4i64{c} else {2i64})))}
w.log(a);}} else {
'l4: while !w.is_tired() && ((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64) < (4i64).wrapping_sub(b){}
if let Some(mut b) = w.wait_some(c).await?{}}}
let g3 = w.noisy(3);{}if !(3i64 < 5i64){ drop(g3); }Ok(End::Value(w.beside(&w.noisy(4), w.beside(&w.noisy(5), a)))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
'l0: while !w.is_tired() && c < c{
if c > a{continue 'l0}}
'l1: for mut b in 0..1i64 { w.log(b);
let mut b = (if !((1i64).wrapping_add(c) < 2i64){3i64} else {
let! Some(mut a) = w.wait_some(b) else {break 'l1 };
let! Some(mut a) = w.wait_some(5i64) else {break 'l1 };7i64});
'l2: while !w.is_tired() && b < 5i64{
let mut c = (if b < 7i64{6i64} else {
let _ = w.noisy(1);(3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))});}}
'l3: for mut a in 0..2i64 { w.log(a);}
b = b.wrapping_sub(do! w.wait(w.check(do! w.wait((a).wrapping_mul(3i64)))?));
if w.check((if (a).wrapping_sub(1i64) < c{
let mut c = (c).wrapping_add(c);
w.log((4i64).wrapping_add(c));c} else {
let _ = w.noisy(2);
a = a.wrapping_add((8i64).wrapping_add(c));b}))? > c{} else {
let! Some(mut b) = w.wait_some(({(b).wrapping_add((2i64).wrapping_sub(a))})) else {return (0i64)};}
if 6i64 > do! w.wait(((b).wrapping_add(c)).wrapping_sub(c)){} else {}
let argument = do! w.wait(c); let held = w.wait_some(argument); if let Some(mut a) = do! held {
if w.check(b)? < (1i64).wrapping_mul((((7i64).wrapping_add(6i64)).wrapping_sub(a)).wrapping_add(b)){
if (c).wrapping_add(a) < c{
w.log(((a).wrapping_sub(1i64)).wrapping_sub(3i64));
b = b.wrapping_sub(c);} else {
if c < 3i64{return ((if (0i64).wrapping_mul(b) < 4i64{c} else {2i64}))}
w.log(a);}} else {
'l4: while !w.is_tired() && ((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64) < (4i64).wrapping_sub(b){}
if let Some(mut b) = do! w.wait_some(c){}}}
let g3 = w.noisy(3);{}if !(3i64 < 5i64){ drop(g3); }w.beside(&w.noisy(4), w.beside(&w.noisy(5), a))} }
fn plain_4(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
'l0: for mut c in 0..3i64 { w.log(c);
if w.wait(6i64)? < (5i64).wrapping_sub(7i64){continue 'l0}
'l1: while !w.is_tired() && (b).wrapping_sub((1i64).wrapping_add(c)) < 2i64{}}
'l2: for mut a in 0..3i64 { w.log(a);}
if (match w.check(1i64)?{0 | 3 => {
if 0i64 < (a).wrapping_add(a){return Ok(End::Value(w.beside(&w.noisy(1), c)))}
w.log((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64) < 0i64{
if 2i64 < 6i64{return Ok(End::TailCall(c))}
w.log(2i64);a} else {b}));a}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l3: while let Some(mut c) = stack.pop() { if w.is_tired() { break }
let _ = w.noisy(2);}1i64}n if n < a => {
b = 3i64;
if b < c{
w.log(6i64);} else {
w.log((((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).wrapping_mul(((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))));}(b).wrapping_add((2i64).wrapping_sub(a))}_ => {
b = b.wrapping_add(w.check(a)?);(c).wrapping_mul(7i64)}}) < 4i64{
let g3 = w.noisy(3);{
let mut c = w.beside(&w.noisy(4), c);
let argument = a; let held = w.wait(argument); match held? { 3 => {} mut a => {}}}if (match 7i64{0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut c = { let argument = b; w.wait(argument) }?;
let mut b = { let argument = (1i64).wrapping_mul((((7i64).wrapping_add(6i64)).wrapping_sub(a)).wrapping_add(b)); w.wait(argument) }?;b}n if n < a => {(c).wrapping_add(a)}_ => {
w.log((((a).wrapping_sub(1i64)).wrapping_sub(3i64)).wrapping_sub((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))));7i64}}) > (2i64).wrapping_add((a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64))){ drop(g3); }
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = { let argument = 4i64; w.wait(argument) }?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);} else {
let g5 = w.noisy(5);{
let Some(mut c) = { let argument = a; w.wait_some(argument) }? else {return Ok(End::TailCall(w.beside(&w.noisy(6), (a).wrapping_sub(0i64))))};}if w.wait((4i64).wrapping_sub(b))? > 6i64{ drop(g5); }}
if w.beside(&w.noisy(7), (2i64).wrapping_add(c)) < w.beside(&w.noisy(8), c){return Ok(End::Value(w.beside(&w.noisy(9), c)))}
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let got = { let argument = 4i64; w.wait(argument) }?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);
if let Some(mut a) = w.wait_some(w.beside(&w.noisy(10), ('l4: loop { if w.is_tired() { break 'l4 0i64 }
let mut c = { let argument = c; w.wait(argument) }?;break 'l4 b; })))?{}Ok(End::Value(w.check((match ((7i64).wrapping_sub(2i64)).wrapping_sub(0i64){0 | 3 => {a}n @ 1..=5 if n > 2 => {2i64}n if n < a => {
let g11 = w.noisy(11);{
w.log(a);
let (mut a, [mut b, ..]) = { let argument = c; w.wait_pair(argument) }?;}if w.beside(&w.noisy(12), a) < 2i64{ drop(g11); }
let (mut a, [mut b, ..]) = { let argument = (3i64).wrapping_add(((c).wrapping_sub(5i64)).wrapping_sub(b)); w.wait_pair(argument) }?;1i64}_ => {(c).wrapping_add(c)}}))?)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
'l0: for mut c in 0..3i64 { w.log(c);
if w.wait(6i64).await? < (5i64).wrapping_sub(7i64){continue 'l0}
'l1: while !w.is_tired() && (b).wrapping_sub((1i64).wrapping_add(c)) < 2i64{}}
'l2: for mut a in 0..3i64 { w.log(a);}
if (match w.check(1i64)?{0 | 3 => {
if 0i64 < (a).wrapping_add(a){return Ok(End::Value(w.beside(&w.noisy(1), c)))}
w.log((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64) < 0i64{
if 2i64 < 6i64{return Ok(End::TailCall(c))}
w.log(2i64);a} else {b}));a}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l3: while let Some(mut c) = stack.pop() { if w.is_tired() { break }
let _ = w.noisy(2);}1i64}n if n < a => {
b = 3i64;
if b < c{
w.log(6i64);} else {
w.log((((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).wrapping_mul(((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))));}(b).wrapping_add((2i64).wrapping_sub(a))}_ => {
b = b.wrapping_add(w.check(a)?);(c).wrapping_mul(7i64)}}) < 4i64{
let g3 = w.noisy(3);{
let mut c = w.beside(&w.noisy(4), c);
let argument = a; let held = w.wait(argument); match held.await? { 3 => {} mut a => {}}}if (match 7i64{0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut c = { let fiber = w.wait(b); fiber }.await?;
let mut b = { let fiber = w.wait((1i64).wrapping_mul((((7i64).wrapping_add(6i64)).wrapping_sub(a)).wrapping_add(b))); fiber }.await?;b}n if n < a => {(c).wrapping_add(a)}_ => {
w.log((((a).wrapping_sub(1i64)).wrapping_sub(3i64)).wrapping_sub((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))));7i64}}) > (2i64).wrapping_add((a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64))){ drop(g3); }
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = { let fiber = w.wait(4i64); fiber }.await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);} else {
let g5 = w.noisy(5);{
let Some(mut c) = { let fiber = w.wait_some(a); fiber }.await? else {return Ok(End::TailCall(w.beside(&w.noisy(6), (a).wrapping_sub(0i64))))};}if w.wait((4i64).wrapping_sub(b)).await? > 6i64{ drop(g5); }}
if w.beside(&w.noisy(7), (2i64).wrapping_add(c)) < w.beside(&w.noisy(8), c){return Ok(End::Value(w.beside(&w.noisy(9), c)))}
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let got = { let fiber = w.wait(4i64); fiber }.await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);
if let Some(mut a) = w.wait_some(w.beside(&w.noisy(10), ('l4: loop { if w.is_tired() { break 'l4 0i64 }
let mut c = { let fiber = w.wait(c); fiber }.await?;break 'l4 b; }))).await?{}Ok(End::Value(w.check((match ((7i64).wrapping_sub(2i64)).wrapping_sub(0i64){0 | 3 => {a}n @ 1..=5 if n > 2 => {2i64}n if n < a => {
let g11 = w.noisy(11);{
w.log(a);
let (mut a, [mut b, ..]) = { let fiber = w.wait_pair(c); fiber }.await?;}if w.beside(&w.noisy(12), a) < 2i64{ drop(g11); }
let (mut a, [mut b, ..]) = { let fiber = w.wait_pair((3i64).wrapping_add(((c).wrapping_sub(5i64)).wrapping_sub(b))); fiber }.await?;1i64}_ => {(c).wrapping_add(c)}}))?)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
'l0: for mut c in 0..3i64 { w.log(c);
if do! w.wait(6i64) < (5i64).wrapping_sub(7i64){continue 'l0}
'l1: while !w.is_tired() && (b).wrapping_sub((1i64).wrapping_add(c)) < 2i64{}}
'l2: for mut a in 0..3i64 { w.log(a);}
if (match w.check(1i64)?{0 | 3 => {
if 0i64 < (a).wrapping_add(a){return (w.beside(&w.noisy(1), c))}
w.log((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64) < 0i64{
if 2i64 < 6i64{return! w.wait(c)}
w.log(2i64);a} else {b}));a}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l3: while let Some(mut c) = stack.pop() { if w.is_tired() { break }
let _ = w.noisy(2);}1i64}n if n < a => {
b = 3i64;
if b < c{
w.log(6i64);} else {
w.log((((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).wrapping_mul(((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))));}(b).wrapping_add((2i64).wrapping_sub(a))}_ => {
b = b.wrapping_add(w.check(a)?);(c).wrapping_mul(7i64)}}) < 4i64{
let g3 = w.noisy(3);{
let mut c = w.beside(&w.noisy(4), c);
let argument = a; let held = w.wait(argument); match do! held { 3 => {} mut a => {}}}if (match 7i64{0 | 3 => {c}n @ 1..=5 if n > 2 => {
let! mut c = w.wait(b);
let! mut b = w.wait((1i64).wrapping_mul((((7i64).wrapping_add(6i64)).wrapping_sub(a)).wrapping_add(b)));b}n if n < a => {(c).wrapping_add(a)}_ => {
w.log((((a).wrapping_sub(1i64)).wrapping_sub(3i64)).wrapping_sub((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))));7i64}}) > (2i64).wrapping_add((a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64))){ drop(g3); }
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);} else {
let g5 = w.noisy(5);{
let! Some(mut c) = w.wait_some(a) else {return! w.wait(w.beside(&w.noisy(6), (a).wrapping_sub(0i64)))};}if do! w.wait((4i64).wrapping_sub(b)) > 6i64{ drop(g5); }}
if w.beside(&w.noisy(7), (2i64).wrapping_add(c)) < w.beside(&w.noisy(8), c){return (w.beside(&w.noisy(9), c))}
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);
if let Some(mut a) = do! w.wait_some(w.beside(&w.noisy(10), ('l4: loop { if w.is_tired() { break 'l4 0i64 }
let! mut c = w.wait(c);break 'l4 b; }))){}w.check((match ((7i64).wrapping_sub(2i64)).wrapping_sub(0i64){0 | 3 => {a}n @ 1..=5 if n > 2 => {2i64}n if n < a => {
let g11 = w.noisy(11);{
w.log(a);
let! (mut a, [mut b, ..]) = w.wait_pair(c);}if w.beside(&w.noisy(12), a) < 2i64{ drop(g11); }
let! (mut a, [mut b, ..]) = w.wait_pair((3i64).wrapping_add(((c).wrapping_sub(5i64)).wrapping_sub(b)));1i64}_ => {(c).wrapping_add(c)}}))?} }
fn plain_5(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut c = { let argument = c; w.wait(argument) }?;
if let Some(mut b) = w.wait_some(a)?{
let g1 = w.noisy(1);{}if w.check(6i64)? < 4i64{ drop(g1); }}
'l0: while !w.is_tired() && ((if (1i64).wrapping_add(c) < 2i64{3i64} else {
w.log(1i64);
a = c;a})).wrapping_sub(w.wait(5i64)?) < w.wait(a)?{
'l1: while !w.is_tired() && w.wait((7i64).wrapping_mul(5i64))? < c{
if b < 7i64{} else {}
if 0i64 < (3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))){
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);} else {
let mut b = { let argument = (a).wrapping_sub(1i64); w.wait(argument) }?;}}}
if 4i64 < (((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64)) && 6i64 < ((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64) && w.check(b)? < (2i64).wrapping_sub(a){
b = b.wrapping_add(w.check(6i64)?);} else {
let mut b = w.check(7i64)?;
let argument = ({6i64}); let held = w.wait_some(argument); if let Some(mut c) = held? {
{
let mut c = { let argument = c; w.wait(argument) }?;}}}Ok(End::Value((match w.check(b)?{0 | 3 => {
if let Some(mut a) = w.wait_some(c)? && c < 3i64{
a = a.wrapping_add(4i64);}
let mut b = ((c).wrapping_add(a)).wrapping_add(c);(((a).wrapping_sub(1i64)).wrapping_sub(3i64)).wrapping_sub((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64)))}n @ 1..=5 if n > 2 => {c}n if n < a => {2i64}_ => {
let _g2 = w.noisy(2);
let Some(mut c) = { let argument = 5i64; w.wait_some(argument) }? else {return Ok(End::Value((match 2i64{0 | 3 => {
a = a.wrapping_sub((a).wrapping_sub(5i64));
if ((c).wrapping_sub((4i64).wrapping_mul(6i64))).wrapping_sub(a) < b{return Ok(End::TailCall(w.beside(&w.noisy(3), 6i64)))}a}n @ 1..=5 if n > 2 => {
b = 7i64;c}n if n < a => {
let (mut a, [mut c, ..]) = { let argument = (a).wrapping_sub(0i64); w.wait_pair(argument) }?;(c).wrapping_add(a)}_ => {((c).wrapping_sub(b)).wrapping_sub((b).wrapping_add((4i64).wrapping_add(b)))}})))};c}}))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_5(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut c = { let fiber = w.wait(c); fiber }.await?;
if let Some(mut b) = w.wait_some(a).await?{
let g1 = w.noisy(1);{}if w.check(6i64)? < 4i64{ drop(g1); }}
'l0: while !w.is_tired() && ((if (1i64).wrapping_add(c) < 2i64{3i64} else {
w.log(1i64);
a = c;a})).wrapping_sub(w.wait(5i64).await?) < w.wait(a).await?{
'l1: while !w.is_tired() && w.wait((7i64).wrapping_mul(5i64)).await? < c{
if b < 7i64{} else {}
if 0i64 < (3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))){
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);} else {
let mut b = { let fiber = w.wait((a).wrapping_sub(1i64)); fiber }.await?;}}}
if 4i64 < (((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64)) && 6i64 < ((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64) && w.check(b)? < (2i64).wrapping_sub(a){
b = b.wrapping_add(w.check(6i64)?);} else {
let mut b = w.check(7i64)?;
let argument = ({6i64}); let held = w.wait_some(argument); if let Some(mut c) = held.await? {
{
let mut c = { let fiber = w.wait(c); fiber }.await?;}}}Ok(End::Value((match w.check(b)?{0 | 3 => {
if let Some(mut a) = w.wait_some(c).await? && c < 3i64{
a = a.wrapping_add(4i64);}
let mut b = ((c).wrapping_add(a)).wrapping_add(c);(((a).wrapping_sub(1i64)).wrapping_sub(3i64)).wrapping_sub((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64)))}n @ 1..=5 if n > 2 => {c}n if n < a => {2i64}_ => {
let _g2 = w.noisy(2);
let Some(mut c) = { let fiber = w.wait_some(5i64); fiber }.await? else {return Ok(End::Value((match 2i64{0 | 3 => {
a = a.wrapping_sub((a).wrapping_sub(5i64));
if ((c).wrapping_sub((4i64).wrapping_mul(6i64))).wrapping_sub(a) < b{return Ok(End::TailCall(w.beside(&w.noisy(3), 6i64)))}a}n @ 1..=5 if n > 2 => {
b = 7i64;c}n if n < a => {
let (mut a, [mut c, ..]) = { let fiber = w.wait_pair((a).wrapping_sub(0i64)); fiber }.await?;(c).wrapping_add(a)}_ => {((c).wrapping_sub(b)).wrapping_sub((b).wrapping_add((4i64).wrapping_add(b)))}})))};c}}))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_5(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let! mut c = w.wait(c);
if let Some(mut b) = do! w.wait_some(a){
let g1 = w.noisy(1);{}if w.check(6i64)? < 4i64{ drop(g1); }}
'l0: while !w.is_tired() && ((if (1i64).wrapping_add(c) < 2i64{3i64} else {
w.log(1i64);
a = c;a})).wrapping_sub(do! w.wait(5i64)) < do! w.wait(a){
'l1: while !w.is_tired() && do! w.wait((7i64).wrapping_mul(5i64)) < c{
if b < 7i64{} else {}
if 0i64 < (3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))){
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);} else {
let! mut b = w.wait((a).wrapping_sub(1i64));}}}
if 4i64 < (((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64)) && 6i64 < ((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64) && w.check(b)? < (2i64).wrapping_sub(a){
b = b.wrapping_add(w.check(6i64)?);} else {
let mut b = w.check(7i64)?;
let argument = ({6i64}); let held = w.wait_some(argument); if let Some(mut c) = do! held {
{
let! mut c = w.wait(c);}}}(match w.check(b)?{0 | 3 => {
if let Some(mut a) = do! w.wait_some(c) && c < 3i64{
a = a.wrapping_add(4i64);}
let mut b = ((c).wrapping_add(a)).wrapping_add(c);(((a).wrapping_sub(1i64)).wrapping_sub(3i64)).wrapping_sub((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64)))}n @ 1..=5 if n > 2 => {c}n if n < a => {2i64}_ => {
let _g2 = w.noisy(2);
let! Some(mut c) = w.wait_some(5i64) else {return ((match 2i64{0 | 3 => {
a = a.wrapping_sub((a).wrapping_sub(5i64));
if ((c).wrapping_sub((4i64).wrapping_mul(6i64))).wrapping_sub(a) < b{return! w.wait(w.beside(&w.noisy(3), 6i64))}a}n @ 1..=5 if n > 2 => {
b = 7i64;c}n if n < a => {
let! (mut a, [mut c, ..]) = w.wait_pair((a).wrapping_sub(0i64));(c).wrapping_add(a)}_ => {((c).wrapping_sub(b)).wrapping_sub((b).wrapping_add((4i64).wrapping_add(b)))}}))};c}})} }
fn plain_6(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut stack = vec![a, b]; 'l0: while let Some(mut c) = stack.pop() { if w.is_tired() { break }
if let Some(mut b) = w.wait_some(a)?{
let g1 = w.noisy(1);{}if w.check(6i64)? < 4i64{ drop(g1); }}
'l1: while !w.is_tired() && (b).wrapping_sub((1i64).wrapping_add(c)) < 2i64{}}
'l2: for mut a in 0..3i64 { w.log(a);}
if (match w.check(1i64)?{0 | 3 => {
if 0i64 < (a).wrapping_add(a){return Ok(End::Value(w.beside(&w.noisy(2), c)))}
w.log((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64) < 0i64{
if 2i64 < 6i64{return Ok(End::TailCall(c))}
w.log(2i64);a} else {b}));a}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l3: while let Some(mut c) = stack.pop() { if w.is_tired() { break }
let _ = w.noisy(3);}1i64}n if n < a => {
b = 3i64;
if b < c{
w.log(6i64);} else {
w.log((((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).wrapping_mul(((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))));}(b).wrapping_add((2i64).wrapping_sub(a))}_ => {
b = b.wrapping_add(w.check(a)?);(c).wrapping_mul(7i64)}}) < 4i64{
let g4 = w.noisy(4);{
let mut c = w.beside(&w.noisy(5), c);
let argument = a; let held = w.wait(argument); match held? { 3 => {} mut a => {}}}if (match 7i64{0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut c = { let argument = b; w.wait(argument) }?;
let mut b = { let argument = (1i64).wrapping_mul((((7i64).wrapping_add(6i64)).wrapping_sub(a)).wrapping_add(b)); w.wait(argument) }?;b}n if n < a => {(c).wrapping_add(a)}_ => {
w.log((((a).wrapping_sub(1i64)).wrapping_sub(3i64)).wrapping_sub((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))));7i64}}) > (2i64).wrapping_add((a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64))){ drop(g4); }
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = { let argument = 4i64; w.wait(argument) }?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);} else {
let g6 = w.noisy(6);{
let Some(mut c) = { let argument = a; w.wait_some(argument) }? else {return Ok(End::TailCall(w.beside(&w.noisy(7), (a).wrapping_sub(0i64))))};}if w.wait((4i64).wrapping_sub(b))? > 6i64{ drop(g6); }}
if w.beside(&w.noisy(8), (2i64).wrapping_add(c)) < w.beside(&w.noisy(9), c){return Ok(End::Value(w.beside(&w.noisy(10), c)))}
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let got = { let argument = 4i64; w.wait(argument) }?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);
if let Some(mut a) = w.wait_some(w.beside(&w.noisy(11), ('l4: loop { if w.is_tired() { break 'l4 0i64 }
let mut c = { let argument = c; w.wait(argument) }?;break 'l4 b; })))?{}
if let Some(mut b) = w.wait_some(w.beside(&w.noisy(12), w.check((7i64).wrapping_sub(2i64))?))?{}Ok(End::Value(w.check((|v: i64| { if v > 4 { return a } v.wrapping_mul(a) })(2i64))?)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_6(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut stack = vec![a, b]; 'l0: while let Some(mut c) = stack.pop() { if w.is_tired() { break }
if let Some(mut b) = w.wait_some(a).await?{
let g1 = w.noisy(1);{}if w.check(6i64)? < 4i64{ drop(g1); }}
'l1: while !w.is_tired() && (b).wrapping_sub((1i64).wrapping_add(c)) < 2i64{}}
'l2: for mut a in 0..3i64 { w.log(a);}
if (match w.check(1i64)?{0 | 3 => {
if 0i64 < (a).wrapping_add(a){return Ok(End::Value(w.beside(&w.noisy(2), c)))}
w.log((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64) < 0i64{
if 2i64 < 6i64{return Ok(End::TailCall(c))}
w.log(2i64);a} else {b}));a}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l3: while let Some(mut c) = stack.pop() { if w.is_tired() { break }
let _ = w.noisy(3);}1i64}n if n < a => {
b = 3i64;
if b < c{
w.log(6i64);} else {
w.log((((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).wrapping_mul(((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))));}(b).wrapping_add((2i64).wrapping_sub(a))}_ => {
b = b.wrapping_add(w.check(a)?);(c).wrapping_mul(7i64)}}) < 4i64{
let g4 = w.noisy(4);{
let mut c = w.beside(&w.noisy(5), c);
let argument = a; let held = w.wait(argument); match held.await? { 3 => {} mut a => {}}}if (match 7i64{0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut c = { let fiber = w.wait(b); fiber }.await?;
let mut b = { let fiber = w.wait((1i64).wrapping_mul((((7i64).wrapping_add(6i64)).wrapping_sub(a)).wrapping_add(b))); fiber }.await?;b}n if n < a => {(c).wrapping_add(a)}_ => {
w.log((((a).wrapping_sub(1i64)).wrapping_sub(3i64)).wrapping_sub((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))));7i64}}) > (2i64).wrapping_add((a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64))){ drop(g4); }
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = { let fiber = w.wait(4i64); fiber }.await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);} else {
let g6 = w.noisy(6);{
let Some(mut c) = { let fiber = w.wait_some(a); fiber }.await? else {return Ok(End::TailCall(w.beside(&w.noisy(7), (a).wrapping_sub(0i64))))};}if w.wait((4i64).wrapping_sub(b)).await? > 6i64{ drop(g6); }}
if w.beside(&w.noisy(8), (2i64).wrapping_add(c)) < w.beside(&w.noisy(9), c){return Ok(End::Value(w.beside(&w.noisy(10), c)))}
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let got = { let fiber = w.wait(4i64); fiber }.await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);
if let Some(mut a) = w.wait_some(w.beside(&w.noisy(11), ('l4: loop { if w.is_tired() { break 'l4 0i64 }
let mut c = { let fiber = w.wait(c); fiber }.await?;break 'l4 b; }))).await?{}
if let Some(mut b) = w.wait_some(w.beside(&w.noisy(12), w.check((7i64).wrapping_sub(2i64))?)).await?{}Ok(End::Value(w.check((|v: i64| { if v > 4 { return a } v.wrapping_mul(a) })(2i64))?)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_6(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut stack = vec![a, b]; 'l0: while let Some(mut c) = stack.pop() { if w.is_tired() { break }
if let Some(mut b) = do! w.wait_some(a){
let g1 = w.noisy(1);{}if w.check(6i64)? < 4i64{ drop(g1); }}
'l1: while !w.is_tired() && (b).wrapping_sub((1i64).wrapping_add(c)) < 2i64{}}
'l2: for mut a in 0..3i64 { w.log(a);}
if (match w.check(1i64)?{0 | 3 => {
if 0i64 < (a).wrapping_add(a){return (w.beside(&w.noisy(2), c))}
w.log((if (((b).wrapping_mul(7i64)).wrapping_mul(0i64)).wrapping_sub(7i64) < 0i64{
if 2i64 < 6i64{return! w.wait(c)}
w.log(2i64);a} else {b}));a}n @ 1..=5 if n > 2 => {
let mut stack = vec![a, b]; 'l3: while let Some(mut c) = stack.pop() { if w.is_tired() { break }
let _ = w.noisy(3);}1i64}n if n < a => {
b = 3i64;
if b < c{
w.log(6i64);} else {
w.log((((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).wrapping_mul(((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))));}(b).wrapping_add((2i64).wrapping_sub(a))}_ => {
b = b.wrapping_add(w.check(a)?);(c).wrapping_mul(7i64)}}) < 4i64{
let g4 = w.noisy(4);{
let mut c = w.beside(&w.noisy(5), c);
let argument = a; let held = w.wait(argument); match do! held { 3 => {} mut a => {}}}if (match 7i64{0 | 3 => {c}n @ 1..=5 if n > 2 => {
let! mut c = w.wait(b);
let! mut b = w.wait((1i64).wrapping_mul((((7i64).wrapping_add(6i64)).wrapping_sub(a)).wrapping_add(b)));b}n if n < a => {(c).wrapping_add(a)}_ => {
w.log((((a).wrapping_sub(1i64)).wrapping_sub(3i64)).wrapping_sub((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))));7i64}}) > (2i64).wrapping_add((a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64))){ drop(g4); }
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);} else {
let g6 = w.noisy(6);{
let! Some(mut c) = w.wait_some(a) else {return! w.wait(w.beside(&w.noisy(7), (a).wrapping_sub(0i64)))};}if do! w.wait((4i64).wrapping_sub(b)) > 6i64{ drop(g6); }}
if w.beside(&w.noisy(8), (2i64).wrapping_add(c)) < w.beside(&w.noisy(9), c){return (w.beside(&w.noisy(10), c))}
{ let mut other = 1i64; let borrowed = if b > 3 { &mut b } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(b);
if let Some(mut a) = do! w.wait_some(w.beside(&w.noisy(11), ('l4: loop { if w.is_tired() { break 'l4 0i64 }
let! mut c = w.wait(c);break 'l4 b; }))){}
if let Some(mut b) = do! w.wait_some(w.beside(&w.noisy(12), w.check((7i64).wrapping_sub(2i64))?)){}w.check((|v: i64| { if v > 4 { return a } v.wrapping_mul(a) })(2i64))?} }
fn plain_7(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
w.log(w.beside(&w.noisy(1), w.wait(w.wait(6i64)?)?));
if let Some(mut b) = w.wait_some(({a}))?{}
let mut stack = vec![a, b]; 'l0: while let Some(mut a) = stack.pop() { if w.is_tired() { break }
let mut b = (if !((1i64).wrapping_add(c) < 2i64){3i64} else {
let Some(mut a) = { let argument = b; w.wait_some(argument) }? else {break 'l0 };
let Some(mut a) = { let argument = 5i64; w.wait_some(argument) }? else {break 'l0 };7i64});
'l1: while !w.is_tired() && b < 5i64{
let mut c = (if b < 7i64{6i64} else {
let _ = w.noisy(2);(3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))});}}
'l2: for mut a in 0..2i64 { w.log(a);}Ok(End::Value({ let argument = (match (1i64).wrapping_add((a).wrapping_mul(3i64)){0 | 3 => {
let (mut a, [mut b, ..]) = { let argument = b; w.wait_pair(argument) }?;(a).wrapping_sub(1i64)}n @ 1..=5 if n > 2 => {
let (mut a, [mut b, ..]) = { let argument = ((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b)); w.wait_pair(argument) }?;((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))}n if n < a => {
let mut b = c;
a = a.wrapping_sub(a);a}_ => {
if a < (c).wrapping_mul(7i64){return Ok(End::Value(4i64))}c}}); w.wait(argument) }?)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_7(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
w.log(w.beside(&w.noisy(1), w.wait(w.wait(6i64).await?).await?));
if let Some(mut b) = w.wait_some(({a})).await?{}
let mut stack = vec![a, b]; 'l0: while let Some(mut a) = stack.pop() { if w.is_tired() { break }
let mut b = (if !((1i64).wrapping_add(c) < 2i64){3i64} else {
let Some(mut a) = { let fiber = w.wait_some(b); fiber }.await? else {break 'l0 };
let Some(mut a) = { let fiber = w.wait_some(5i64); fiber }.await? else {break 'l0 };7i64});
'l1: while !w.is_tired() && b < 5i64{
let mut c = (if b < 7i64{6i64} else {
let _ = w.noisy(2);(3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))});}}
'l2: for mut a in 0..2i64 { w.log(a);}Ok(End::Value({ let fiber = w.wait((match (1i64).wrapping_add((a).wrapping_mul(3i64)){0 | 3 => {
let (mut a, [mut b, ..]) = { let fiber = w.wait_pair(b); fiber }.await?;(a).wrapping_sub(1i64)}n @ 1..=5 if n > 2 => {
let (mut a, [mut b, ..]) = { let fiber = w.wait_pair(((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))); fiber }.await?;((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))}n if n < a => {
let mut b = c;
a = a.wrapping_sub(a);a}_ => {
if a < (c).wrapping_mul(7i64){return Ok(End::Value(4i64))}c}})); fiber }.await?)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_7(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
w.log(w.beside(&w.noisy(1), do! w.wait(do! w.wait(6i64))));
if let Some(mut b) = do! w.wait_some(({a})){}
let mut stack = vec![a, b]; 'l0: while let Some(mut a) = stack.pop() { if w.is_tired() { break }
let mut b = (if !((1i64).wrapping_add(c) < 2i64){3i64} else {
let! Some(mut a) = w.wait_some(b) else {break 'l0 };
let! Some(mut a) = w.wait_some(5i64) else {break 'l0 };7i64});
'l1: while !w.is_tired() && b < 5i64{
let mut c = (if b < 7i64{6i64} else {
let _ = w.noisy(2);(3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))});}}
'l2: for mut a in 0..2i64 { w.log(a);}do! w.wait((match (1i64).wrapping_add((a).wrapping_mul(3i64)){0 | 3 => {
let! (mut a, [mut b, ..]) = w.wait_pair(b);(a).wrapping_sub(1i64)}n @ 1..=5 if n > 2 => {
let! (mut a, [mut b, ..]) = w.wait_pair(((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b)));((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))}n if n < a => {
let mut b = c;
a = a.wrapping_sub(a);a}_ => {
if a < (c).wrapping_mul(7i64){return (4i64)}c}}))} }
fn plain_8(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if w.wait(a)? < (match a{0 | 3 => {
if 6i64 < 4i64{return Ok(End::TailCall(w.beside(&w.noisy(1), (b).wrapping_mul(b))))}
let (mut a, [mut c, ..]) = { let argument = b; w.wait_pair(argument) }?;((3i64).wrapping_add((1i64).wrapping_add(a))).wrapping_add(1i64)}n @ 1..=5 if n > 2 => {
let _ = w.noisy(2);
let _ = w.noisy(3);(a).wrapping_add(a)}n if n < a => {c}_ => {
let mut b = { let argument = 5i64; w.wait(argument) }?;
c = c.wrapping_sub((b).wrapping_mul(7i64));0i64}}){return Ok(End::TailCall(w.check(a)?))}
{
'l0: for mut a in 0..3i64 { w.log(a);}
let _ = w.noisy(4);}
let _ = w.noisy(5);
let Some(mut a) = { let argument = w.check((match 6i64{0 | 3 => {
b = a;((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a)}n @ 1..=5 if n > 2 => {
let mut b = { let argument = (a).wrapping_sub(1i64); w.wait(argument) }?;c}n if n < a => {
let mut c = (c).wrapping_add(c);
w.log((4i64).wrapping_add(c));c}_ => {
let _ = w.noisy(6);
a = a.wrapping_add((8i64).wrapping_add(c));b}}))?; w.wait_some(argument) }? else {return Ok(End::TailCall(c))};
w.log(w.wait(('l1: loop { if w.is_tired() { break 'l1 0i64 }
a = a.wrapping_sub(w.check(b)?);break 'l1 (2i64).wrapping_sub(a); }))?);
'l2: for mut a in 0..2i64 { w.log(a);
'l3: while !w.is_tired() && !((c).wrapping_mul(7i64) < b){
let g7 = w.noisy(7);{
w.log((c).wrapping_sub((4i64).wrapping_mul(6i64)));
a = a.wrapping_add(c);}if (match 7i64{0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut c = { let argument = b; w.wait(argument) }?;
let mut b = { let argument = (1i64).wrapping_mul((((7i64).wrapping_add(6i64)).wrapping_sub(a)).wrapping_add(b)); w.wait(argument) }?;b}n if n < a => {(c).wrapping_add(a)}_ => {
w.log((((a).wrapping_sub(1i64)).wrapping_sub(3i64)).wrapping_sub((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))));7i64}}) > (2i64).wrapping_add((a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64))){ drop(g7); }
let mut a = { let argument = (4i64).wrapping_sub(b); w.wait(argument) }?;}}
let Some(mut a) = { let argument = (match (|v: i64| { if v > 4 { return b } v.wrapping_mul(b) })(4i64){0 | 3 => {
if 3i64 < 5i64{return Ok(End::Value(((6i64).wrapping_sub(((c).wrapping_sub(b)).wrapping_sub((b).wrapping_add((4i64).wrapping_add(b))))).wrapping_sub(((b).wrapping_sub(4i64)).wrapping_sub(c))))}
if 7i64 < 2i64{} else {}7i64}n @ 1..=5 if n > 2 => {0i64}n if n < a => {
if ((6i64).wrapping_sub(((1i64).wrapping_sub(((5i64).wrapping_add(6i64)).wrapping_sub(2i64))).wrapping_mul(c))).wrapping_mul(b) < ((a).wrapping_sub(a)).wrapping_add((c).wrapping_add(c)){} else {}
let mut b = (a).wrapping_mul(b);c}_ => {
let argument = c; let held = w.wait_flag(argument); if held? {}5i64}}); w.wait_some(argument) }? else {return Ok(End::TailCall(w.check((c).wrapping_add((c).wrapping_mul(8i64)))?))};
if let Some(mut b) = w.wait_some(w.check(w.beside(&w.noisy(8), (a).wrapping_add(b)))?)?{
let mut a = w.check(w.wait(6i64)?)?;}Ok(End::Value(w.check((if 0i64 < 1i64{
if c < (b).wrapping_sub((b).wrapping_mul((a).wrapping_mul(2i64))){return Ok(End::TailCall((if ((((b).wrapping_mul(2i64)).wrapping_mul((3i64).wrapping_sub(c))).wrapping_sub(b)).wrapping_add(c) < b{
let mut c = 8i64;
b = b;(a).wrapping_add((6i64).wrapping_add((5i64).wrapping_mul(3i64)))} else {8i64})))}
let mut c = (1i64).wrapping_mul(c);(((8i64).wrapping_mul(2i64)).wrapping_mul(b)).wrapping_add(6i64)} else {a}))?)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_8(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if w.wait(a).await? < (match a{0 | 3 => {
if 6i64 < 4i64{return Ok(End::TailCall(w.beside(&w.noisy(1), (b).wrapping_mul(b))))}
let (mut a, [mut c, ..]) = { let fiber = w.wait_pair(b); fiber }.await?;((3i64).wrapping_add((1i64).wrapping_add(a))).wrapping_add(1i64)}n @ 1..=5 if n > 2 => {
let _ = w.noisy(2);
let _ = w.noisy(3);(a).wrapping_add(a)}n if n < a => {c}_ => {
let mut b = { let fiber = w.wait(5i64); fiber }.await?;
c = c.wrapping_sub((b).wrapping_mul(7i64));0i64}}){return Ok(End::TailCall(w.check(a)?))}
{
'l0: for mut a in 0..3i64 { w.log(a);}
let _ = w.noisy(4);}
let _ = w.noisy(5);
let Some(mut a) = { let fiber = w.wait_some(w.check((match 6i64{0 | 3 => {
b = a;((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a)}n @ 1..=5 if n > 2 => {
let mut b = { let fiber = w.wait((a).wrapping_sub(1i64)); fiber }.await?;c}n if n < a => {
let mut c = (c).wrapping_add(c);
w.log((4i64).wrapping_add(c));c}_ => {
let _ = w.noisy(6);
a = a.wrapping_add((8i64).wrapping_add(c));b}}))?); fiber }.await? else {return Ok(End::TailCall(c))};
w.log(w.wait(('l1: loop { if w.is_tired() { break 'l1 0i64 }
a = a.wrapping_sub(w.check(b)?);break 'l1 (2i64).wrapping_sub(a); })).await?);
'l2: for mut a in 0..2i64 { w.log(a);
'l3: while !w.is_tired() && !((c).wrapping_mul(7i64) < b){
let g7 = w.noisy(7);{
w.log((c).wrapping_sub((4i64).wrapping_mul(6i64)));
a = a.wrapping_add(c);}if (match 7i64{0 | 3 => {c}n @ 1..=5 if n > 2 => {
let mut c = { let fiber = w.wait(b); fiber }.await?;
let mut b = { let fiber = w.wait((1i64).wrapping_mul((((7i64).wrapping_add(6i64)).wrapping_sub(a)).wrapping_add(b))); fiber }.await?;b}n if n < a => {(c).wrapping_add(a)}_ => {
w.log((((a).wrapping_sub(1i64)).wrapping_sub(3i64)).wrapping_sub((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))));7i64}}) > (2i64).wrapping_add((a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64))){ drop(g7); }
let mut a = { let fiber = w.wait((4i64).wrapping_sub(b)); fiber }.await?;}}
let Some(mut a) = { let fiber = w.wait_some((match (|v: i64| { if v > 4 { return b } v.wrapping_mul(b) })(4i64){0 | 3 => {
if 3i64 < 5i64{return Ok(End::Value(((6i64).wrapping_sub(((c).wrapping_sub(b)).wrapping_sub((b).wrapping_add((4i64).wrapping_add(b))))).wrapping_sub(((b).wrapping_sub(4i64)).wrapping_sub(c))))}
if 7i64 < 2i64{} else {}7i64}n @ 1..=5 if n > 2 => {0i64}n if n < a => {
if ((6i64).wrapping_sub(((1i64).wrapping_sub(((5i64).wrapping_add(6i64)).wrapping_sub(2i64))).wrapping_mul(c))).wrapping_mul(b) < ((a).wrapping_sub(a)).wrapping_add((c).wrapping_add(c)){} else {}
let mut b = (a).wrapping_mul(b);c}_ => {
let argument = c; let held = w.wait_flag(argument); if held.await? {}5i64}})); fiber }.await? else {return Ok(End::TailCall(w.check((c).wrapping_add((c).wrapping_mul(8i64)))?))};
if let Some(mut b) = w.wait_some(w.check(w.beside(&w.noisy(8), (a).wrapping_add(b)))?).await?{
let mut a = w.check(w.wait(6i64).await?)?;}Ok(End::Value(w.check((if 0i64 < 1i64{
if c < (b).wrapping_sub((b).wrapping_mul((a).wrapping_mul(2i64))){return Ok(End::TailCall((if ((((b).wrapping_mul(2i64)).wrapping_mul((3i64).wrapping_sub(c))).wrapping_sub(b)).wrapping_add(c) < b{
let mut c = 8i64;
b = b;(a).wrapping_add((6i64).wrapping_add((5i64).wrapping_mul(3i64)))} else {8i64})))}
let mut c = (1i64).wrapping_mul(c);(((8i64).wrapping_mul(2i64)).wrapping_mul(b)).wrapping_add(6i64)} else {a}))?)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_8(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if do! w.wait(a) < (match a{0 | 3 => {
if 6i64 < 4i64{return! w.wait(w.beside(&w.noisy(1), (b).wrapping_mul(b)))}
let! (mut a, [mut c, ..]) = w.wait_pair(b);((3i64).wrapping_add((1i64).wrapping_add(a))).wrapping_add(1i64)}n @ 1..=5 if n > 2 => {
let _ = w.noisy(2);
let _ = w.noisy(3);(a).wrapping_add(a)}n if n < a => {c}_ => {
let! mut b = w.wait(5i64);
c = c.wrapping_sub((b).wrapping_mul(7i64));0i64}}){return! w.wait(w.check(a)?)}
{
'l0: for mut a in 0..3i64 { w.log(a);}
let _ = w.noisy(4);}
let _ = w.noisy(5);
let! Some(mut a) = w.wait_some(w.check((match 6i64{0 | 3 => {
b = a;((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a)}n @ 1..=5 if n > 2 => {
let! mut b = w.wait((a).wrapping_sub(1i64));c}n if n < a => {
let mut c = (c).wrapping_add(c);
w.log((4i64).wrapping_add(c));c}_ => {
let _ = w.noisy(6);
a = a.wrapping_add((8i64).wrapping_add(c));b}}))?) else {return! w.wait(c)};
w.log(do! w.wait(('l1: loop { if w.is_tired() { break 'l1 0i64 }
a = a.wrapping_sub(w.check(b)?);break 'l1 (2i64).wrapping_sub(a); })));
'l2: for mut a in 0..2i64 { w.log(a);
'l3: while !w.is_tired() && !((c).wrapping_mul(7i64) < b){
let g7 = w.noisy(7);{
w.log((c).wrapping_sub((4i64).wrapping_mul(6i64)));
a = a.wrapping_add(c);}if (match 7i64{0 | 3 => {c}n @ 1..=5 if n > 2 => {
let! mut c = w.wait(b);
let! mut b = w.wait((1i64).wrapping_mul((((7i64).wrapping_add(6i64)).wrapping_sub(a)).wrapping_add(b)));b}n if n < a => {(c).wrapping_add(a)}_ => {
w.log((((a).wrapping_sub(1i64)).wrapping_sub(3i64)).wrapping_sub((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))));7i64}}) > (2i64).wrapping_add((a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64))){ drop(g7); }
let! mut a = w.wait((4i64).wrapping_sub(b));}}
let! Some(mut a) = w.wait_some((match (|v: i64| { if v > 4 { return b } v.wrapping_mul(b) })(4i64){0 | 3 => {
if 3i64 < 5i64{return (((6i64).wrapping_sub(((c).wrapping_sub(b)).wrapping_sub((b).wrapping_add((4i64).wrapping_add(b))))).wrapping_sub(((b).wrapping_sub(4i64)).wrapping_sub(c)))}
if 7i64 < 2i64{} else {}7i64}n @ 1..=5 if n > 2 => {0i64}n if n < a => {
if ((6i64).wrapping_sub(((1i64).wrapping_sub(((5i64).wrapping_add(6i64)).wrapping_sub(2i64))).wrapping_mul(c))).wrapping_mul(b) < ((a).wrapping_sub(a)).wrapping_add((c).wrapping_add(c)){} else {}
let mut b = (a).wrapping_mul(b);c}_ => {
let argument = c; let held = w.wait_flag(argument); if do! held {}5i64}})) else {return! w.wait(w.check((c).wrapping_add((c).wrapping_mul(8i64)))?)};
if let Some(mut b) = do! w.wait_some(w.check(w.beside(&w.noisy(8), (a).wrapping_add(b)))?){
let mut a = w.check(do! w.wait(6i64))?;}w.check((if 0i64 < 1i64{
if c < (b).wrapping_sub((b).wrapping_mul((a).wrapping_mul(2i64))){return! w.wait((if ((((b).wrapping_mul(2i64)).wrapping_mul((3i64).wrapping_sub(c))).wrapping_sub(b)).wrapping_add(c) < b{
let mut c = 8i64;
b = b;(a).wrapping_add((6i64).wrapping_add((5i64).wrapping_mul(3i64)))} else {8i64}))}
let mut c = (1i64).wrapping_mul(c);(((8i64).wrapping_mul(2i64)).wrapping_mul(b)).wrapping_add(6i64)} else {a}))?} }
fn plain_9(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if let Some(mut b) = w.wait_some(a)?{
let g1 = w.noisy(1);{}if w.check(6i64)? < 4i64{ drop(g1); }}
'l0: while !w.is_tired() && ((if (1i64).wrapping_add(c) < 2i64{3i64} else {
w.log(1i64);
a = c;a})).wrapping_sub(w.wait(5i64)?) < w.wait(a)?{
'l1: while !w.is_tired() && w.wait((7i64).wrapping_mul(5i64))? < c{
if b < 7i64{} else {}
if 0i64 < (3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))){
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);} else {
let mut b = { let argument = (a).wrapping_sub(1i64); w.wait(argument) }?;}}}
if 4i64 < (((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64)) && 6i64 < ((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64) && w.check(b)? < (2i64).wrapping_sub(a){
b = b.wrapping_add(w.check(6i64)?);} else {
let mut b = w.check(7i64)?;
let argument = ({6i64}); let held = w.wait_some(argument); if let Some(mut c) = held? {
{
let mut c = { let argument = c; w.wait(argument) }?;}}}
if let Some(mut b) = w.wait_some((if !((c).wrapping_add(2i64) < c){7i64} else {4i64}))?{
let mut b = (w.check(7i64)?).wrapping_add(w.wait(a)?);}Ok(End::Value(w.beside(&w.noisy(2), w.wait((((a).wrapping_sub(1i64)).wrapping_sub(3i64)).wrapping_sub((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))))?))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_9(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if let Some(mut b) = w.wait_some(a).await?{
let g1 = w.noisy(1);{}if w.check(6i64)? < 4i64{ drop(g1); }}
'l0: while !w.is_tired() && ((if (1i64).wrapping_add(c) < 2i64{3i64} else {
w.log(1i64);
a = c;a})).wrapping_sub(w.wait(5i64).await?) < w.wait(a).await?{
'l1: while !w.is_tired() && w.wait((7i64).wrapping_mul(5i64)).await? < c{
if b < 7i64{} else {}
if 0i64 < (3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))){
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);} else {
let mut b = { let fiber = w.wait((a).wrapping_sub(1i64)); fiber }.await?;}}}
if 4i64 < (((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64)) && 6i64 < ((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64) && w.check(b)? < (2i64).wrapping_sub(a){
b = b.wrapping_add(w.check(6i64)?);} else {
let mut b = w.check(7i64)?;
let argument = ({6i64}); let held = w.wait_some(argument); if let Some(mut c) = held.await? {
{
let mut c = { let fiber = w.wait(c); fiber }.await?;}}}
if let Some(mut b) = w.wait_some((if !((c).wrapping_add(2i64) < c){7i64} else {4i64})).await?{
let mut b = (w.check(7i64)?).wrapping_add(w.wait(a).await?);}Ok(End::Value(w.beside(&w.noisy(2), w.wait((((a).wrapping_sub(1i64)).wrapping_sub(3i64)).wrapping_sub((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64)))).await?))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_9(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if let Some(mut b) = do! w.wait_some(a){
let g1 = w.noisy(1);{}if w.check(6i64)? < 4i64{ drop(g1); }}
'l0: while !w.is_tired() && ((if (1i64).wrapping_add(c) < 2i64{3i64} else {
w.log(1i64);
a = c;a})).wrapping_sub(do! w.wait(5i64)) < do! w.wait(a){
'l1: while !w.is_tired() && do! w.wait((7i64).wrapping_mul(5i64)) < c{
if b < 7i64{} else {}
if 0i64 < (3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))){
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);} else {
let! mut b = w.wait((a).wrapping_sub(1i64));}}}
if 4i64 < (((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64)) && 6i64 < ((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64) && w.check(b)? < (2i64).wrapping_sub(a){
b = b.wrapping_add(w.check(6i64)?);} else {
let mut b = w.check(7i64)?;
let argument = ({6i64}); let held = w.wait_some(argument); if let Some(mut c) = do! held {
{
let! mut c = w.wait(c);}}}
if let Some(mut b) = do! w.wait_some((if !((c).wrapping_add(2i64) < c){7i64} else {4i64})){
let mut b = (w.check(7i64)?).wrapping_add(do! w.wait(a));}w.beside(&w.noisy(2), do! w.wait((((a).wrapping_sub(1i64)).wrapping_sub(3i64)).wrapping_sub((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64)))))} }
fn plain_10(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if c > w.beside(&w.noisy(1), 5i64){return Ok(End::TailCall(w.check(a)?))}
'l0: for mut b in 0..1i64 { w.log(b);
let mut b = (if !((1i64).wrapping_add(c) < 2i64){3i64} else {
let Some(mut a) = { let argument = b; w.wait_some(argument) }? else {break 'l0 };
let Some(mut a) = { let argument = 5i64; w.wait_some(argument) }? else {break 'l0 };7i64});
'l1: while !w.is_tired() && b < 5i64{
let mut c = (if b < 7i64{6i64} else {
let _ = w.noisy(2);(3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))});}}
'l2: for mut a in 0..2i64 { w.log(a);}
b = b.wrapping_sub(w.wait(w.check(w.wait((a).wrapping_mul(3i64))?)?)?);
if w.check((if (a).wrapping_sub(1i64) < c{
let mut c = (c).wrapping_add(c);
w.log((4i64).wrapping_add(c));c} else {
let _ = w.noisy(3);
a = a.wrapping_add((8i64).wrapping_add(c));b}))? > c{} else {
let Some(mut b) = { let argument = ({(b).wrapping_add((2i64).wrapping_sub(a))}); w.wait_some(argument) }? else {return Ok(End::Value(0i64))};}Ok(End::Value(w.check(w.check(a)?)?)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_10(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if c > w.beside(&w.noisy(1), 5i64){return Ok(End::TailCall(w.check(a)?))}
'l0: for mut b in 0..1i64 { w.log(b);
let mut b = (if !((1i64).wrapping_add(c) < 2i64){3i64} else {
let Some(mut a) = { let fiber = w.wait_some(b); fiber }.await? else {break 'l0 };
let Some(mut a) = { let fiber = w.wait_some(5i64); fiber }.await? else {break 'l0 };7i64});
'l1: while !w.is_tired() && b < 5i64{
let mut c = (if b < 7i64{6i64} else {
let _ = w.noisy(2);(3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))});}}
'l2: for mut a in 0..2i64 { w.log(a);}
b = b.wrapping_sub(w.wait(w.check(w.wait((a).wrapping_mul(3i64)).await?)?).await?);
if w.check((if (a).wrapping_sub(1i64) < c{
let mut c = (c).wrapping_add(c);
w.log((4i64).wrapping_add(c));c} else {
let _ = w.noisy(3);
a = a.wrapping_add((8i64).wrapping_add(c));b}))? > c{} else {
let Some(mut b) = { let fiber = w.wait_some(({(b).wrapping_add((2i64).wrapping_sub(a))})); fiber }.await? else {return Ok(End::Value(0i64))};}Ok(End::Value(w.check(w.check(a)?)?)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_10(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if c > w.beside(&w.noisy(1), 5i64){return! w.wait(w.check(a)?)}
'l0: for mut b in 0..1i64 { w.log(b);
let mut b = (if !((1i64).wrapping_add(c) < 2i64){3i64} else {
let! Some(mut a) = w.wait_some(b) else {break 'l0 };
let! Some(mut a) = w.wait_some(5i64) else {break 'l0 };7i64});
'l1: while !w.is_tired() && b < 5i64{
let mut c = (if b < 7i64{6i64} else {
let _ = w.noisy(2);(3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))});}}
'l2: for mut a in 0..2i64 { w.log(a);}
b = b.wrapping_sub(do! w.wait(w.check(do! w.wait((a).wrapping_mul(3i64)))?));
if w.check((if (a).wrapping_sub(1i64) < c{
let mut c = (c).wrapping_add(c);
w.log((4i64).wrapping_add(c));c} else {
let _ = w.noisy(3);
a = a.wrapping_add((8i64).wrapping_add(c));b}))? > c{} else {
let! Some(mut b) = w.wait_some(({(b).wrapping_add((2i64).wrapping_sub(a))})) else {return (0i64)};}w.check(w.check(a)?)?} }
fn plain_11(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
'l0: while !w.is_tired() && (match w.beside(&w.noisy(1), 5i64){0 | 3 => {a}n @ 1..=5 if n > 2 => {4i64}n if n < a => {(b).wrapping_mul(b)}_ => {
let mut a = w.beside(&w.noisy(2), c);
let mut c = { let argument = 6i64; w.wait(argument) }?;5i64}}) > w.wait(1i64)?{
if let Some(mut a) = w.wait_some(w.beside(&w.noisy(3), (0i64).wrapping_sub(5i64)))?{
if 6i64 < c{return Ok(End::Value(('l1: loop { if w.is_tired() { break 'l1 0i64 }break 'l1 a; })))}}}
let mut c = (if b < w.wait(a)?{w.check(a)?} else {w.check((2i64).wrapping_add(6i64))?});
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let got = { let argument = 4i64; w.wait(argument) }?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
w.log(w.wait(w.check(w.check(a)?)?)?);
if !(!(4i64 < 8i64)){return Ok(End::TailCall((match (1i64).wrapping_add((a).wrapping_mul(3i64)){0 | 3 => {
let (mut a, [mut b, ..]) = { let argument = b; w.wait_pair(argument) }?;(a).wrapping_sub(1i64)}n @ 1..=5 if n > 2 => {
let (mut a, [mut b, ..]) = { let argument = ((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b)); w.wait_pair(argument) }?;((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))}n if n < a => {
let mut b = c;
a = a.wrapping_sub(a);a}_ => {
if a < (c).wrapping_mul(7i64){return Ok(End::Value(4i64))}c}})))}Ok(End::Value((match 7i64{0 | 3 => {c}n @ 1..=5 if n > 2 => {
let Some(mut c) = { let argument = b; w.wait_some(argument) }? else {return Ok(End::Value((if (1i64).wrapping_mul((((7i64).wrapping_add(6i64)).wrapping_sub(a)).wrapping_add(b)) < b{(c).wrapping_add(a)} else {
w.log((((a).wrapping_sub(1i64)).wrapping_sub(3i64)).wrapping_sub((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))));7i64})))};
let mut a = w.beside(&w.noisy(4), (a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64)));((c).wrapping_sub((4i64).wrapping_mul(6i64))).wrapping_sub(a)}n if n < a => {
let g5 = w.noisy(5);{
let (mut a, [mut c, ..]) = { let argument = a; w.wait_pair(argument) }?;}if w.wait((4i64).wrapping_sub(b))? > 6i64{ drop(g5); }c}_ => {
w.log(w.wait(0i64)?);(c).wrapping_add(a)}}))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_11(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
'l0: while !w.is_tired() && (match w.beside(&w.noisy(1), 5i64){0 | 3 => {a}n @ 1..=5 if n > 2 => {4i64}n if n < a => {(b).wrapping_mul(b)}_ => {
let mut a = w.beside(&w.noisy(2), c);
let mut c = { let fiber = w.wait(6i64); fiber }.await?;5i64}}) > w.wait(1i64).await?{
if let Some(mut a) = w.wait_some(w.beside(&w.noisy(3), (0i64).wrapping_sub(5i64))).await?{
if 6i64 < c{return Ok(End::Value(('l1: loop { if w.is_tired() { break 'l1 0i64 }break 'l1 a; })))}}}
let mut c = (if b < w.wait(a).await?{w.check(a)?} else {w.check((2i64).wrapping_add(6i64))?});
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let got = { let fiber = w.wait(4i64); fiber }.await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
w.log(w.wait(w.check(w.check(a)?)?).await?);
if !(!(4i64 < 8i64)){return Ok(End::TailCall((match (1i64).wrapping_add((a).wrapping_mul(3i64)){0 | 3 => {
let (mut a, [mut b, ..]) = { let fiber = w.wait_pair(b); fiber }.await?;(a).wrapping_sub(1i64)}n @ 1..=5 if n > 2 => {
let (mut a, [mut b, ..]) = { let fiber = w.wait_pair(((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))); fiber }.await?;((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))}n if n < a => {
let mut b = c;
a = a.wrapping_sub(a);a}_ => {
if a < (c).wrapping_mul(7i64){return Ok(End::Value(4i64))}c}})))}Ok(End::Value((match 7i64{0 | 3 => {c}n @ 1..=5 if n > 2 => {
let Some(mut c) = { let fiber = w.wait_some(b); fiber }.await? else {return Ok(End::Value((if (1i64).wrapping_mul((((7i64).wrapping_add(6i64)).wrapping_sub(a)).wrapping_add(b)) < b{(c).wrapping_add(a)} else {
w.log((((a).wrapping_sub(1i64)).wrapping_sub(3i64)).wrapping_sub((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))));7i64})))};
let mut a = w.beside(&w.noisy(4), (a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64)));((c).wrapping_sub((4i64).wrapping_mul(6i64))).wrapping_sub(a)}n if n < a => {
let g5 = w.noisy(5);{
let (mut a, [mut c, ..]) = { let fiber = w.wait_pair(a); fiber }.await?;}if w.wait((4i64).wrapping_sub(b)).await? > 6i64{ drop(g5); }c}_ => {
w.log(w.wait(0i64).await?);(c).wrapping_add(a)}}))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_11(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
'l0: while !w.is_tired() && (match w.beside(&w.noisy(1), 5i64){0 | 3 => {a}n @ 1..=5 if n > 2 => {4i64}n if n < a => {(b).wrapping_mul(b)}_ => {
let mut a = w.beside(&w.noisy(2), c);
let! mut c = w.wait(6i64);5i64}}) > do! w.wait(1i64){
if let Some(mut a) = do! w.wait_some(w.beside(&w.noisy(3), (0i64).wrapping_sub(5i64))){
if 6i64 < c{return (('l1: loop { if w.is_tired() { break 'l1 0i64 }break 'l1 a; }))}}}
let mut c = (if b < do! w.wait(a){w.check(a)?} else {w.check((2i64).wrapping_add(6i64))?});
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
w.log(do! w.wait(w.check(w.check(a)?)?));
if !(!(4i64 < 8i64)){return! w.wait((match (1i64).wrapping_add((a).wrapping_mul(3i64)){0 | 3 => {
let! (mut a, [mut b, ..]) = w.wait_pair(b);(a).wrapping_sub(1i64)}n @ 1..=5 if n > 2 => {
let! (mut a, [mut b, ..]) = w.wait_pair(((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b)));((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))}n if n < a => {
let mut b = c;
a = a.wrapping_sub(a);a}_ => {
if a < (c).wrapping_mul(7i64){return (4i64)}c}}))}(match 7i64{0 | 3 => {c}n @ 1..=5 if n > 2 => {
let! Some(mut c) = w.wait_some(b) else {return ((if (1i64).wrapping_mul((((7i64).wrapping_add(6i64)).wrapping_sub(a)).wrapping_add(b)) < b{(c).wrapping_add(a)} else {
w.log((((a).wrapping_sub(1i64)).wrapping_sub(3i64)).wrapping_sub((((a).wrapping_mul(c)).wrapping_sub(3i64)).wrapping_sub(((0i64).wrapping_mul(b)).wrapping_sub(4i64))));7i64}))};
let mut a = w.beside(&w.noisy(4), (a).wrapping_mul(((2i64).wrapping_mul((5i64).wrapping_mul((a).wrapping_sub(5i64)))).wrapping_add(2i64)));((c).wrapping_sub((4i64).wrapping_mul(6i64))).wrapping_sub(a)}n if n < a => {
let g5 = w.noisy(5);{
let! (mut a, [mut c, ..]) = w.wait_pair(a);}if do! w.wait((4i64).wrapping_sub(b)) > 6i64{ drop(g5); }c}_ => {
w.log(do! w.wait(0i64));(c).wrapping_add(a)}})} }
fn plain_12(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let got = { let argument = 4i64; w.wait(argument) }?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
'l0: while !w.is_tired() && w.check(w.check(a)?)? > w.wait(4i64)?{}
'l1: while !w.is_tired() && ((if (1i64).wrapping_add(c) < 2i64{3i64} else {
w.log(1i64);
a = c;a})).wrapping_sub(w.wait(5i64)?) < w.wait(a)?{
'l2: while !w.is_tired() && w.wait((7i64).wrapping_mul(5i64))? < c{
if b < 7i64{} else {}
if 0i64 < (3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))){
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);} else {
let mut b = { let argument = (a).wrapping_sub(1i64); w.wait(argument) }?;}}}
if 4i64 < (((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64)) && 6i64 < ((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64) && w.check(b)? < (2i64).wrapping_sub(a){
b = b.wrapping_add(w.check(6i64)?);} else {
let mut b = w.check(7i64)?;
let argument = ({6i64}); let held = w.wait_some(argument); if let Some(mut c) = held? {
{
let mut c = { let argument = c; w.wait(argument) }?;}}}
if let Some(mut b) = w.wait_some((if !((c).wrapping_add(2i64) < c){7i64} else {4i64}))?{
let mut b = (w.check(7i64)?).wrapping_add(w.wait(a)?);}
'l3: while !w.is_tired() && !(c < b) && w.beside(&w.noisy(1), a) > 5i64{
let mut b = { let argument = w.beside(&w.noisy(2), (7i64).wrapping_sub((2i64).wrapping_add(c))); w.wait(argument) }?;}
let Some(mut a) = { let argument = w.wait((if 4i64 < 7i64{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if 4i64 < b{return Ok(End::TailCall(w.wait(7i64)?))}(4i64).wrapping_sub((a).wrapping_sub(0i64))} else {
b = b.wrapping_sub(a);
let (mut a, [mut b, ..]) = { let argument = c; w.wait_pair(argument) }?;b}))?; w.wait_some(argument) }? else {return Ok(End::TailCall(w.check(b)?))};Ok(End::Value((('l4: loop { if w.is_tired() { break 'l4 0i64 }
a = a.wrapping_add(b);
b = b.wrapping_sub(b);break 'l4 a; })).wrapping_sub(w.check(c)?))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_12(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let got = { let fiber = w.wait(4i64); fiber }.await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
'l0: while !w.is_tired() && w.check(w.check(a)?)? > w.wait(4i64).await?{}
'l1: while !w.is_tired() && ((if (1i64).wrapping_add(c) < 2i64{3i64} else {
w.log(1i64);
a = c;a})).wrapping_sub(w.wait(5i64).await?) < w.wait(a).await?{
'l2: while !w.is_tired() && w.wait((7i64).wrapping_mul(5i64)).await? < c{
if b < 7i64{} else {}
if 0i64 < (3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))){
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);} else {
let mut b = { let fiber = w.wait((a).wrapping_sub(1i64)); fiber }.await?;}}}
if 4i64 < (((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64)) && 6i64 < ((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64) && w.check(b)? < (2i64).wrapping_sub(a){
b = b.wrapping_add(w.check(6i64)?);} else {
let mut b = w.check(7i64)?;
let argument = ({6i64}); let held = w.wait_some(argument); if let Some(mut c) = held.await? {
{
let mut c = { let fiber = w.wait(c); fiber }.await?;}}}
if let Some(mut b) = w.wait_some((if !((c).wrapping_add(2i64) < c){7i64} else {4i64})).await?{
let mut b = (w.check(7i64)?).wrapping_add(w.wait(a).await?);}
'l3: while !w.is_tired() && !(c < b) && w.beside(&w.noisy(1), a) > 5i64{
let mut b = { let fiber = w.wait(w.beside(&w.noisy(2), (7i64).wrapping_sub((2i64).wrapping_add(c)))); fiber }.await?;}
let Some(mut a) = { let fiber = w.wait_some(w.wait((if 4i64 < 7i64{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if 4i64 < b{return Ok(End::TailCall(w.wait(7i64).await?))}(4i64).wrapping_sub((a).wrapping_sub(0i64))} else {
b = b.wrapping_sub(a);
let (mut a, [mut b, ..]) = { let fiber = w.wait_pair(c); fiber }.await?;b})).await?); fiber }.await? else {return Ok(End::TailCall(w.check(b)?))};Ok(End::Value((('l4: loop { if w.is_tired() { break 'l4 0i64 }
a = a.wrapping_add(b);
b = b.wrapping_sub(b);break 'l4 a; })).wrapping_sub(w.check(c)?))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_12(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
'l0: while !w.is_tired() && w.check(w.check(a)?)? > do! w.wait(4i64){}
'l1: while !w.is_tired() && ((if (1i64).wrapping_add(c) < 2i64{3i64} else {
w.log(1i64);
a = c;a})).wrapping_sub(do! w.wait(5i64)) < do! w.wait(a){
'l2: while !w.is_tired() && do! w.wait((7i64).wrapping_mul(5i64)) < c{
if b < 7i64{} else {}
if 0i64 < (3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))){
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);} else {
let! mut b = w.wait((a).wrapping_sub(1i64));}}}
if 4i64 < (((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64)) && 6i64 < ((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64) && w.check(b)? < (2i64).wrapping_sub(a){
b = b.wrapping_add(w.check(6i64)?);} else {
let mut b = w.check(7i64)?;
let argument = ({6i64}); let held = w.wait_some(argument); if let Some(mut c) = do! held {
{
let! mut c = w.wait(c);}}}
if let Some(mut b) = do! w.wait_some((if !((c).wrapping_add(2i64) < c){7i64} else {4i64})){
let mut b = (w.check(7i64)?).wrapping_add(do! w.wait(a));}
'l3: while !w.is_tired() && !(c < b) && w.beside(&w.noisy(1), a) > 5i64{
let! mut b = w.wait(w.beside(&w.noisy(2), (7i64).wrapping_sub((2i64).wrapping_add(c))));}
let! Some(mut a) = w.wait_some(do! w.wait((if 4i64 < 7i64{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if 4i64 < b{return! w.wait(do! w.wait(7i64))}(4i64).wrapping_sub((a).wrapping_sub(0i64))} else {
b = b.wrapping_sub(a);
let! (mut a, [mut b, ..]) = w.wait_pair(c);b}))) else {return! w.wait(w.check(b)?)};(('l4: loop { if w.is_tired() { break 'l4 0i64 }
a = a.wrapping_add(b);
b = b.wrapping_sub(b);break 'l4 a; })).wrapping_sub(w.check(c)?)} }
fn plain_13(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if let Some(mut b) = w.wait_some(({a}))?{}
let mut stack = vec![a, b]; 'l0: while let Some(mut a) = stack.pop() { if w.is_tired() { break }
let mut b = (if !((1i64).wrapping_add(c) < 2i64){3i64} else {
let Some(mut a) = { let argument = b; w.wait_some(argument) }? else {break 'l0 };
let Some(mut a) = { let argument = 5i64; w.wait_some(argument) }? else {break 'l0 };7i64});
'l1: while !w.is_tired() && b < 5i64{
let mut c = (if b < 7i64{6i64} else {
let _ = w.noisy(1);(3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))});}}
'l2: for mut a in 0..2i64 { w.log(a);}
b = b.wrapping_sub(w.wait(w.check(w.wait((a).wrapping_mul(3i64))?)?)?);
if w.check((if (a).wrapping_sub(1i64) < c{
let mut c = (c).wrapping_add(c);
w.log((4i64).wrapping_add(c));c} else {
let _ = w.noisy(2);
a = a.wrapping_add((8i64).wrapping_add(c));b}))? > c{} else {
let Some(mut b) = { let argument = ({(b).wrapping_add((2i64).wrapping_sub(a))}); w.wait_some(argument) }? else {return Ok(End::Value(0i64))};}Ok(End::Value(w.check(w.check(a)?)?)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_13(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if let Some(mut b) = w.wait_some(({a})).await?{}
let mut stack = vec![a, b]; 'l0: while let Some(mut a) = stack.pop() { if w.is_tired() { break }
let mut b = (if !((1i64).wrapping_add(c) < 2i64){3i64} else {
let Some(mut a) = { let fiber = w.wait_some(b); fiber }.await? else {break 'l0 };
let Some(mut a) = { let fiber = w.wait_some(5i64); fiber }.await? else {break 'l0 };7i64});
'l1: while !w.is_tired() && b < 5i64{
let mut c = (if b < 7i64{6i64} else {
let _ = w.noisy(1);(3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))});}}
'l2: for mut a in 0..2i64 { w.log(a);}
b = b.wrapping_sub(w.wait(w.check(w.wait((a).wrapping_mul(3i64)).await?)?).await?);
if w.check((if (a).wrapping_sub(1i64) < c{
let mut c = (c).wrapping_add(c);
w.log((4i64).wrapping_add(c));c} else {
let _ = w.noisy(2);
a = a.wrapping_add((8i64).wrapping_add(c));b}))? > c{} else {
let Some(mut b) = { let fiber = w.wait_some(({(b).wrapping_add((2i64).wrapping_sub(a))})); fiber }.await? else {return Ok(End::Value(0i64))};}Ok(End::Value(w.check(w.check(a)?)?)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_13(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if let Some(mut b) = do! w.wait_some(({a})){}
let mut stack = vec![a, b]; 'l0: while let Some(mut a) = stack.pop() { if w.is_tired() { break }
let mut b = (if !((1i64).wrapping_add(c) < 2i64){3i64} else {
let! Some(mut a) = w.wait_some(b) else {break 'l0 };
let! Some(mut a) = w.wait_some(5i64) else {break 'l0 };7i64});
'l1: while !w.is_tired() && b < 5i64{
let mut c = (if b < 7i64{6i64} else {
let _ = w.noisy(1);(3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))});}}
'l2: for mut a in 0..2i64 { w.log(a);}
b = b.wrapping_sub(do! w.wait(w.check(do! w.wait((a).wrapping_mul(3i64)))?));
if w.check((if (a).wrapping_sub(1i64) < c{
let mut c = (c).wrapping_add(c);
w.log((4i64).wrapping_add(c));c} else {
let _ = w.noisy(2);
a = a.wrapping_add((8i64).wrapping_add(c));b}))? > c{} else {
let! Some(mut b) = w.wait_some(({(b).wrapping_add((2i64).wrapping_sub(a))})) else {return (0i64)};}w.check(w.check(a)?)?} }
fn plain_14(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
'l0: while !w.is_tired() && w.check(w.check(a)?)? > w.wait(4i64)?{}
'l1: while !w.is_tired() && ((if (1i64).wrapping_add(c) < 2i64{3i64} else {
w.log(1i64);
a = c;a})).wrapping_sub(w.wait(5i64)?) < w.wait(a)?{
'l2: while !w.is_tired() && w.wait((7i64).wrapping_mul(5i64))? < c{
if b < 7i64{} else {}
if 0i64 < (3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))){
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);} else {
let mut b = { let argument = (a).wrapping_sub(1i64); w.wait(argument) }?;}}}
if 4i64 < (((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64)) && 6i64 < ((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64) && w.check(b)? < (2i64).wrapping_sub(a){
b = b.wrapping_add(w.check(6i64)?);} else {
let mut b = w.check(7i64)?;
let argument = ({6i64}); let held = w.wait_some(argument); if let Some(mut c) = held? {
{
let mut c = { let argument = c; w.wait(argument) }?;}}}
if let Some(mut b) = w.wait_some((if !((c).wrapping_add(2i64) < c){7i64} else {4i64}))?{
let mut b = (w.check(7i64)?).wrapping_add(w.wait(a)?);}
'l3: while !w.is_tired() && !(c < b) && w.beside(&w.noisy(1), a) > 5i64{
let mut b = { let argument = w.beside(&w.noisy(2), (7i64).wrapping_sub((2i64).wrapping_add(c))); w.wait(argument) }?;}
let Some(mut a) = { let argument = w.wait((if 4i64 < 7i64{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if 4i64 < b{return Ok(End::TailCall(w.wait(7i64)?))}(4i64).wrapping_sub((a).wrapping_sub(0i64))} else {
b = b.wrapping_sub(a);
let (mut a, [mut b, ..]) = { let argument = c; w.wait_pair(argument) }?;b}))?; w.wait_some(argument) }? else {return Ok(End::TailCall(w.check(b)?))};Ok(End::Value((('l4: loop { if w.is_tired() { break 'l4 0i64 }
a = a.wrapping_add(b);
b = b.wrapping_sub(b);break 'l4 a; })).wrapping_sub(w.check(c)?))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_14(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
'l0: while !w.is_tired() && w.check(w.check(a)?)? > w.wait(4i64).await?{}
'l1: while !w.is_tired() && ((if (1i64).wrapping_add(c) < 2i64{3i64} else {
w.log(1i64);
a = c;a})).wrapping_sub(w.wait(5i64).await?) < w.wait(a).await?{
'l2: while !w.is_tired() && w.wait((7i64).wrapping_mul(5i64)).await? < c{
if b < 7i64{} else {}
if 0i64 < (3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))){
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);} else {
let mut b = { let fiber = w.wait((a).wrapping_sub(1i64)); fiber }.await?;}}}
if 4i64 < (((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64)) && 6i64 < ((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64) && w.check(b)? < (2i64).wrapping_sub(a){
b = b.wrapping_add(w.check(6i64)?);} else {
let mut b = w.check(7i64)?;
let argument = ({6i64}); let held = w.wait_some(argument); if let Some(mut c) = held.await? {
{
let mut c = { let fiber = w.wait(c); fiber }.await?;}}}
if let Some(mut b) = w.wait_some((if !((c).wrapping_add(2i64) < c){7i64} else {4i64})).await?{
let mut b = (w.check(7i64)?).wrapping_add(w.wait(a).await?);}
'l3: while !w.is_tired() && !(c < b) && w.beside(&w.noisy(1), a) > 5i64{
let mut b = { let fiber = w.wait(w.beside(&w.noisy(2), (7i64).wrapping_sub((2i64).wrapping_add(c)))); fiber }.await?;}
let Some(mut a) = { let fiber = w.wait_some(w.wait((if 4i64 < 7i64{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if 4i64 < b{return Ok(End::TailCall(w.wait(7i64).await?))}(4i64).wrapping_sub((a).wrapping_sub(0i64))} else {
b = b.wrapping_sub(a);
let (mut a, [mut b, ..]) = { let fiber = w.wait_pair(c); fiber }.await?;b})).await?); fiber }.await? else {return Ok(End::TailCall(w.check(b)?))};Ok(End::Value((('l4: loop { if w.is_tired() { break 'l4 0i64 }
a = a.wrapping_add(b);
b = b.wrapping_sub(b);break 'l4 a; })).wrapping_sub(w.check(c)?))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_14(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
'l0: while !w.is_tired() && w.check(w.check(a)?)? > do! w.wait(4i64){}
'l1: while !w.is_tired() && ((if (1i64).wrapping_add(c) < 2i64{3i64} else {
w.log(1i64);
a = c;a})).wrapping_sub(do! w.wait(5i64)) < do! w.wait(a){
'l2: while !w.is_tired() && do! w.wait((7i64).wrapping_mul(5i64)) < c{
if b < 7i64{} else {}
if 0i64 < (3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))){
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);} else {
let! mut b = w.wait((a).wrapping_sub(1i64));}}}
if 4i64 < (((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64)) && 6i64 < ((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64) && w.check(b)? < (2i64).wrapping_sub(a){
b = b.wrapping_add(w.check(6i64)?);} else {
let mut b = w.check(7i64)?;
let argument = ({6i64}); let held = w.wait_some(argument); if let Some(mut c) = do! held {
{
let! mut c = w.wait(c);}}}
if let Some(mut b) = do! w.wait_some((if !((c).wrapping_add(2i64) < c){7i64} else {4i64})){
let mut b = (w.check(7i64)?).wrapping_add(do! w.wait(a));}
'l3: while !w.is_tired() && !(c < b) && w.beside(&w.noisy(1), a) > 5i64{
let! mut b = w.wait(w.beside(&w.noisy(2), (7i64).wrapping_sub((2i64).wrapping_add(c))));}
let! Some(mut a) = w.wait_some(do! w.wait((if 4i64 < 7i64{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if 4i64 < b{return! w.wait(do! w.wait(7i64))}(4i64).wrapping_sub((a).wrapping_sub(0i64))} else {
b = b.wrapping_sub(a);
let! (mut a, [mut b, ..]) = w.wait_pair(c);b}))) else {return! w.wait(w.check(b)?)};(('l4: loop { if w.is_tired() { break 'l4 0i64 }
a = a.wrapping_add(b);
b = b.wrapping_sub(b);break 'l4 a; })).wrapping_sub(w.check(c)?)} }
fn plain_15(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let g1 = w.noisy(1);{}if w.check(6i64)? < 4i64{ drop(g1); }
'l0: while !w.is_tired() && ((if (1i64).wrapping_add(c) < 2i64{3i64} else {
w.log(1i64);
a = c;a})).wrapping_sub(w.wait(5i64)?) < w.wait(a)?{
'l1: while !w.is_tired() && w.wait((7i64).wrapping_mul(5i64))? < c{
if b < 7i64{} else {}
if 0i64 < (3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))){
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);} else {
let mut b = { let argument = (a).wrapping_sub(1i64); w.wait(argument) }?;}}}
if 4i64 < (((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64)) && 6i64 < ((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64) && w.check(b)? < (2i64).wrapping_sub(a){
b = b.wrapping_add(w.check(6i64)?);} else {
let mut b = w.check(7i64)?;
let argument = ({6i64}); let held = w.wait_some(argument); if let Some(mut c) = held? {
{
let mut c = { let argument = c; w.wait(argument) }?;}}}
if let Some(mut b) = w.wait_some((if !((c).wrapping_add(2i64) < c){7i64} else {4i64}))?{
let mut b = (w.check(7i64)?).wrapping_add(w.wait(a)?);}
'l2: while !w.is_tired() && !(c < b) && w.beside(&w.noisy(2), a) > 5i64{
let mut b = { let argument = w.beside(&w.noisy(3), (7i64).wrapping_sub((2i64).wrapping_add(c))); w.wait(argument) }?;}
let Some(mut a) = { let argument = w.wait((if 4i64 < 7i64{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if 4i64 < b{return Ok(End::TailCall(w.wait(7i64)?))}(4i64).wrapping_sub((a).wrapping_sub(0i64))} else {
b = b.wrapping_sub(a);
let (mut a, [mut b, ..]) = { let argument = c; w.wait_pair(argument) }?;b}))?; w.wait_some(argument) }? else {return Ok(End::TailCall(w.check(b)?))};Ok(End::Value((('l3: loop { if w.is_tired() { break 'l3 0i64 }
a = a.wrapping_add(b);
b = b.wrapping_sub(b);break 'l3 a; })).wrapping_sub(w.check(c)?))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_15(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let g1 = w.noisy(1);{}if w.check(6i64)? < 4i64{ drop(g1); }
'l0: while !w.is_tired() && ((if (1i64).wrapping_add(c) < 2i64{3i64} else {
w.log(1i64);
a = c;a})).wrapping_sub(w.wait(5i64).await?) < w.wait(a).await?{
'l1: while !w.is_tired() && w.wait((7i64).wrapping_mul(5i64)).await? < c{
if b < 7i64{} else {}
if 0i64 < (3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))){
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);} else {
let mut b = { let fiber = w.wait((a).wrapping_sub(1i64)); fiber }.await?;}}}
if 4i64 < (((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64)) && 6i64 < ((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64) && w.check(b)? < (2i64).wrapping_sub(a){
b = b.wrapping_add(w.check(6i64)?);} else {
let mut b = w.check(7i64)?;
let argument = ({6i64}); let held = w.wait_some(argument); if let Some(mut c) = held.await? {
{
let mut c = { let fiber = w.wait(c); fiber }.await?;}}}
if let Some(mut b) = w.wait_some((if !((c).wrapping_add(2i64) < c){7i64} else {4i64})).await?{
let mut b = (w.check(7i64)?).wrapping_add(w.wait(a).await?);}
'l2: while !w.is_tired() && !(c < b) && w.beside(&w.noisy(2), a) > 5i64{
let mut b = { let fiber = w.wait(w.beside(&w.noisy(3), (7i64).wrapping_sub((2i64).wrapping_add(c)))); fiber }.await?;}
let Some(mut a) = { let fiber = w.wait_some(w.wait((if 4i64 < 7i64{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if 4i64 < b{return Ok(End::TailCall(w.wait(7i64).await?))}(4i64).wrapping_sub((a).wrapping_sub(0i64))} else {
b = b.wrapping_sub(a);
let (mut a, [mut b, ..]) = { let fiber = w.wait_pair(c); fiber }.await?;b})).await?); fiber }.await? else {return Ok(End::TailCall(w.check(b)?))};Ok(End::Value((('l3: loop { if w.is_tired() { break 'l3 0i64 }
a = a.wrapping_add(b);
b = b.wrapping_sub(b);break 'l3 a; })).wrapping_sub(w.check(c)?))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_15(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let g1 = w.noisy(1);{}if w.check(6i64)? < 4i64{ drop(g1); }
'l0: while !w.is_tired() && ((if (1i64).wrapping_add(c) < 2i64{3i64} else {
w.log(1i64);
a = c;a})).wrapping_sub(do! w.wait(5i64)) < do! w.wait(a){
'l1: while !w.is_tired() && do! w.wait((7i64).wrapping_mul(5i64)) < c{
if b < 7i64{} else {}
if 0i64 < (3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b)))){
b = ((1i64).wrapping_add((a).wrapping_mul(3i64))).wrapping_sub(a);} else {
let! mut b = w.wait((a).wrapping_sub(1i64));}}}
if 4i64 < (((4i64).wrapping_add(c)).wrapping_mul(c)).wrapping_sub((5i64).wrapping_sub(7i64)) && 6i64 < ((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64) && w.check(b)? < (2i64).wrapping_sub(a){
b = b.wrapping_add(w.check(6i64)?);} else {
let mut b = w.check(7i64)?;
let argument = ({6i64}); let held = w.wait_some(argument); if let Some(mut c) = do! held {
{
let! mut c = w.wait(c);}}}
if let Some(mut b) = do! w.wait_some((if !((c).wrapping_add(2i64) < c){7i64} else {4i64})){
let mut b = (w.check(7i64)?).wrapping_add(do! w.wait(a));}
'l2: while !w.is_tired() && !(c < b) && w.beside(&w.noisy(2), a) > 5i64{
let! mut b = w.wait(w.beside(&w.noisy(3), (7i64).wrapping_sub((2i64).wrapping_add(c))));}
let! Some(mut a) = w.wait_some(do! w.wait((if 4i64 < 7i64{
let mut a = ((2i64).wrapping_sub(5i64)).wrapping_mul(((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64));
if 4i64 < b{return! w.wait(do! w.wait(7i64))}(4i64).wrapping_sub((a).wrapping_sub(0i64))} else {
b = b.wrapping_sub(a);
let! (mut a, [mut b, ..]) = w.wait_pair(c);b}))) else {return! w.wait(w.check(b)?)};(('l3: loop { if w.is_tired() { break 'l3 0i64 }
a = a.wrapping_add(b);
b = b.wrapping_sub(b);break 'l3 a; })).wrapping_sub(w.check(c)?)} }
fn plain_16(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if w.check(w.wait(6i64)?)? < 3i64{return Ok(End::Value(w.check((b).wrapping_sub(c))?))}
if let Some(mut b) = w.wait_some(w.wait((match 2i64{0 | 3 => {3i64}n @ 1..=5 if n > 2 => {
w.log(1i64);
a = c;a}n if n < a => {5i64}_ => {a}}))?)?{}
let mut b = w.beside(&w.noisy(1), ('l0: loop { if w.is_tired() { break 'l0 0i64 }break 'l0 a; }));
let mut stack = vec![a, b]; 'l1: while let Some(mut b) = stack.pop() { if w.is_tired() { break }
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let got = { let argument = 4i64; w.wait(argument) }?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
if w.check(7i64)? < 0i64{continue 'l1}}Ok(End::Value(w.beside(&w.noisy(2), (if (6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))) < a{
let (mut a, [mut b, ..]) = { let argument = c; w.wait_pair(argument) }?;3i64} else {
w.log((3i64).wrapping_sub(1i64));1i64})))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_16(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if w.check(w.wait(6i64).await?)? < 3i64{return Ok(End::Value(w.check((b).wrapping_sub(c))?))}
if let Some(mut b) = w.wait_some(w.wait((match 2i64{0 | 3 => {3i64}n @ 1..=5 if n > 2 => {
w.log(1i64);
a = c;a}n if n < a => {5i64}_ => {a}})).await?).await?{}
let mut b = w.beside(&w.noisy(1), ('l0: loop { if w.is_tired() { break 'l0 0i64 }break 'l0 a; }));
let mut stack = vec![a, b]; 'l1: while let Some(mut b) = stack.pop() { if w.is_tired() { break }
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let got = { let fiber = w.wait(4i64); fiber }.await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
if w.check(7i64)? < 0i64{continue 'l1}}Ok(End::Value(w.beside(&w.noisy(2), (if (6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))) < a{
let (mut a, [mut b, ..]) = { let fiber = w.wait_pair(c); fiber }.await?;3i64} else {
w.log((3i64).wrapping_sub(1i64));1i64})))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_16(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
if w.check(do! w.wait(6i64))? < 3i64{return (w.check((b).wrapping_sub(c))?)}
if let Some(mut b) = do! w.wait_some(do! w.wait((match 2i64{0 | 3 => {3i64}n @ 1..=5 if n > 2 => {
w.log(1i64);
a = c;a}n if n < a => {5i64}_ => {a}}))){}
let mut b = w.beside(&w.noisy(1), ('l0: loop { if w.is_tired() { break 'l0 0i64 }break 'l0 a; }));
let mut stack = vec![a, b]; 'l1: while let Some(mut b) = stack.pop() { if w.is_tired() { break }
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
if w.check(7i64)? < 0i64{continue 'l1}}w.beside(&w.noisy(2), (if (6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))) < a{
let! (mut a, [mut b, ..]) = w.wait_pair(c);3i64} else {
w.log((3i64).wrapping_sub(1i64));1i64}))} }
fn plain_17(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let (mut a, [mut b, ..]) = { let argument = w.wait(w.wait(4i64)?)?; w.wait_pair(argument) }?;
if let Some(mut c) = w.wait_some(w.check((b).wrapping_sub((1i64).wrapping_add(c)))?)?{
if let Some(mut a) = w.wait_some(w.beside(&w.noisy(1), (1i64).wrapping_add(a)))?{
let mut b = { let argument = 0i64; w.wait(argument) }?;}
let (mut a, [mut c, ..]) = { let argument = w.wait(a)?; w.wait_pair(argument) }?;}
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = { let argument = 4i64; w.wait(argument) }?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
let mut b = w.beside(&w.noisy(2), ('l0: loop { if w.is_tired() { break 'l0 0i64 }break 'l0 a; }));
let mut stack = vec![a, b]; 'l1: while let Some(mut b) = stack.pop() { if w.is_tired() { break }
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let got = { let argument = 4i64; w.wait(argument) }?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
if w.check(7i64)? < 0i64{continue 'l1}}
let Some(mut a) = { let argument = (if 8i64 < 3i64 && (6i64).wrapping_sub(b) < a{
let mut stack = vec![a, b]; 'l2: while let Some(mut c) = stack.pop() { if w.is_tired() { break }
let _ = w.noisy(3);}1i64} else {
b = 3i64;
if b < c{
w.log(6i64);} else {
w.log((((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).wrapping_mul(((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))));}(b).wrapping_add((2i64).wrapping_sub(a))}); w.wait_some(argument) }? else {return Ok(End::Value(0i64))};Ok(End::Value(w.check(w.check(a)?)?)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_17(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let (mut a, [mut b, ..]) = { let fiber = w.wait_pair(w.wait(w.wait(4i64).await?).await?); fiber }.await?;
if let Some(mut c) = w.wait_some(w.check((b).wrapping_sub((1i64).wrapping_add(c)))?).await?{
if let Some(mut a) = w.wait_some(w.beside(&w.noisy(1), (1i64).wrapping_add(a))).await?{
let mut b = { let fiber = w.wait(0i64); fiber }.await?;}
let (mut a, [mut c, ..]) = { let fiber = w.wait_pair(w.wait(a).await?); fiber }.await?;}
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let got = { let fiber = w.wait(4i64); fiber }.await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
let mut b = w.beside(&w.noisy(2), ('l0: loop { if w.is_tired() { break 'l0 0i64 }break 'l0 a; }));
let mut stack = vec![a, b]; 'l1: while let Some(mut b) = stack.pop() { if w.is_tired() { break }
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let got = { let fiber = w.wait(4i64); fiber }.await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
if w.check(7i64)? < 0i64{continue 'l1}}
let Some(mut a) = { let fiber = w.wait_some((if 8i64 < 3i64 && (6i64).wrapping_sub(b) < a{
let mut stack = vec![a, b]; 'l2: while let Some(mut c) = stack.pop() { if w.is_tired() { break }
let _ = w.noisy(3);}1i64} else {
b = 3i64;
if b < c{
w.log(6i64);} else {
w.log((((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).wrapping_mul(((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))));}(b).wrapping_add((2i64).wrapping_sub(a))})); fiber }.await? else {return Ok(End::Value(0i64))};Ok(End::Value(w.check(w.check(a)?)?)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_17(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let! (mut a, [mut b, ..]) = w.wait_pair(do! w.wait(do! w.wait(4i64)));
if let Some(mut c) = do! w.wait_some(w.check((b).wrapping_sub((1i64).wrapping_add(c)))?){
if let Some(mut a) = do! w.wait_some(w.beside(&w.noisy(1), (1i64).wrapping_add(a))){
let! mut b = w.wait(0i64);}
let! (mut a, [mut c, ..]) = w.wait_pair(do! w.wait(a));}
{ let mut other = 1i64; let borrowed = if a > 3 { &mut a } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(a);
let mut b = w.beside(&w.noisy(2), ('l0: loop { if w.is_tired() { break 'l0 0i64 }break 'l0 a; }));
let mut stack = vec![a, b]; 'l1: while let Some(mut b) = stack.pop() { if w.is_tired() { break }
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
if w.check(7i64)? < 0i64{continue 'l1}}
let! Some(mut a) = w.wait_some((if 8i64 < 3i64 && (6i64).wrapping_sub(b) < a{
let mut stack = vec![a, b]; 'l2: while let Some(mut c) = stack.pop() { if w.is_tired() { break }
let _ = w.noisy(3);}1i64} else {
b = 3i64;
if b < c{
w.log(6i64);} else {
w.log((((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).wrapping_mul(((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))));}(b).wrapping_add((2i64).wrapping_sub(a))})) else {return (0i64)};w.check(w.check(a)?)?} }
fn plain_18(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut stack = vec![a, b]; 'l0: while let Some(mut a) = stack.pop() { if w.is_tired() { break }}
'l1: for mut b in 0..1i64 { w.log(b);
let mut b = (if !((1i64).wrapping_add(c) < 2i64){3i64} else {
let Some(mut a) = { let argument = b; w.wait_some(argument) }? else {break 'l1 };
let Some(mut a) = { let argument = 5i64; w.wait_some(argument) }? else {break 'l1 };7i64});
'l2: while !w.is_tired() && b < 5i64{
let mut c = (if b < 7i64{6i64} else {
let _ = w.noisy(1);(3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))});}}
'l3: for mut a in 0..2i64 { w.log(a);}
b = b.wrapping_sub(w.wait(w.check(w.wait((a).wrapping_mul(3i64))?)?)?);
if w.check((if (a).wrapping_sub(1i64) < c{
let mut c = (c).wrapping_add(c);
w.log((4i64).wrapping_add(c));c} else {
let _ = w.noisy(2);
a = a.wrapping_add((8i64).wrapping_add(c));b}))? > c{} else {
let Some(mut b) = { let argument = ({(b).wrapping_add((2i64).wrapping_sub(a))}); w.wait_some(argument) }? else {return Ok(End::Value(0i64))};}
if 6i64 > w.wait(((b).wrapping_add(c)).wrapping_sub(c))?{} else {}Ok(End::Value(7i64)) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_18(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut stack = vec![a, b]; 'l0: while let Some(mut a) = stack.pop() { if w.is_tired() { break }}
'l1: for mut b in 0..1i64 { w.log(b);
let mut b = (if !((1i64).wrapping_add(c) < 2i64){3i64} else {
let Some(mut a) = { let fiber = w.wait_some(b); fiber }.await? else {break 'l1 };
let Some(mut a) = { let fiber = w.wait_some(5i64); fiber }.await? else {break 'l1 };7i64});
'l2: while !w.is_tired() && b < 5i64{
let mut c = (if b < 7i64{6i64} else {
let _ = w.noisy(1);(3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))});}}
'l3: for mut a in 0..2i64 { w.log(a);}
b = b.wrapping_sub(w.wait(w.check(w.wait((a).wrapping_mul(3i64)).await?)?).await?);
if w.check((if (a).wrapping_sub(1i64) < c{
let mut c = (c).wrapping_add(c);
w.log((4i64).wrapping_add(c));c} else {
let _ = w.noisy(2);
a = a.wrapping_add((8i64).wrapping_add(c));b}))? > c{} else {
let Some(mut b) = { let fiber = w.wait_some(({(b).wrapping_add((2i64).wrapping_sub(a))})); fiber }.await? else {return Ok(End::Value(0i64))};}
if 6i64 > w.wait(((b).wrapping_add(c)).wrapping_sub(c)).await?{} else {}Ok(End::Value(7i64)) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_18(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let mut stack = vec![a, b]; 'l0: while let Some(mut a) = stack.pop() { if w.is_tired() { break }}
'l1: for mut b in 0..1i64 { w.log(b);
let mut b = (if !((1i64).wrapping_add(c) < 2i64){3i64} else {
let! Some(mut a) = w.wait_some(b) else {break 'l1 };
let! Some(mut a) = w.wait_some(5i64) else {break 'l1 };7i64});
'l2: while !w.is_tired() && b < 5i64{
let mut c = (if b < 7i64{6i64} else {
let _ = w.noisy(1);(3i64).wrapping_mul((6i64).wrapping_add((0i64).wrapping_add((6i64).wrapping_sub(b))))});}}
'l3: for mut a in 0..2i64 { w.log(a);}
b = b.wrapping_sub(do! w.wait(w.check(do! w.wait((a).wrapping_mul(3i64)))?));
if w.check((if (a).wrapping_sub(1i64) < c{
let mut c = (c).wrapping_add(c);
w.log((4i64).wrapping_add(c));c} else {
let _ = w.noisy(2);
a = a.wrapping_add((8i64).wrapping_add(c));b}))? > c{} else {
let! Some(mut b) = w.wait_some(({(b).wrapping_add((2i64).wrapping_sub(a))})) else {return (0i64)};}
if 6i64 > do! w.wait(((b).wrapping_add(c)).wrapping_sub(c)){} else {}7i64} }
fn plain_19(w: &Plain, n: i64) -> Result<i64, Error> { let end = (|| -> Result<End, Error> { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let Some(mut a) = { let argument = w.check(3i64)?; w.wait_some(argument) }? else {return Ok(End::Value(w.check((b).wrapping_sub(c))?))};
if let Some(mut b) = w.wait_some(w.wait((match 2i64{0 | 3 => {3i64}n @ 1..=5 if n > 2 => {
w.log(1i64);
a = c;a}n if n < a => {5i64}_ => {a}}))?)?{}
let mut b = w.beside(&w.noisy(1), ('l0: loop { if w.is_tired() { break 'l0 0i64 }break 'l0 a; }));
let mut stack = vec![a, b]; 'l1: while let Some(mut b) = stack.pop() { if w.is_tired() { break }
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let got = { let argument = 4i64; w.wait(argument) }?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
if w.check(7i64)? < 0i64{continue 'l1}}
let Some(mut a) = { let argument = (if 8i64 < 3i64 && (6i64).wrapping_sub(b) < a{
let mut stack = vec![a, b]; 'l2: while let Some(mut c) = stack.pop() { if w.is_tired() { break }
let _ = w.noisy(2);}1i64} else {
b = 3i64;
if b < c{
w.log(6i64);} else {
w.log((((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).wrapping_mul(((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))));}(b).wrapping_add((2i64).wrapping_sub(a))}); w.wait_some(argument) }? else {return Ok(End::Value(0i64))};
if 6i64 > w.wait(((b).wrapping_add(c)).wrapping_sub(c))?{} else {}
let argument = w.wait(c)?; let held = w.wait_some(argument); if let Some(mut a) = held? {
if w.check(b)? < (1i64).wrapping_mul((((7i64).wrapping_add(6i64)).wrapping_sub(a)).wrapping_add(b)){
if (c).wrapping_add(a) < c{
w.log(((a).wrapping_sub(1i64)).wrapping_sub(3i64));
b = b.wrapping_sub(c);} else {
if c < 3i64{return Ok(End::Value((if (0i64).wrapping_mul(b) < 4i64{c} else {2i64})))}
w.log(a);}} else {
'l3: while !w.is_tired() && ((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64) < (4i64).wrapping_sub(b){}
if let Some(mut b) = w.wait_some(c)?{}}}
let g3 = w.noisy(3);{}if !(3i64 < 5i64){ drop(g3); }Ok(End::Value(w.beside(&w.noisy(4), w.beside(&w.noisy(5), a)))) })()?; match end { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n) } }
fn async_19(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { let end: Result<End, Error> = async { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let Some(mut a) = { let fiber = w.wait_some(w.check(3i64)?); fiber }.await? else {return Ok(End::Value(w.check((b).wrapping_sub(c))?))};
if let Some(mut b) = w.wait_some(w.wait((match 2i64{0 | 3 => {3i64}n @ 1..=5 if n > 2 => {
w.log(1i64);
a = c;a}n if n < a => {5i64}_ => {a}})).await?).await?{}
let mut b = w.beside(&w.noisy(1), ('l0: loop { if w.is_tired() { break 'l0 0i64 }break 'l0 a; }));
let mut stack = vec![a, b]; 'l1: while let Some(mut b) = stack.pop() { if w.is_tired() { break }
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let got = { let fiber = w.wait(4i64); fiber }.await?; *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
if w.check(7i64)? < 0i64{continue 'l1}}
let Some(mut a) = { let fiber = w.wait_some((if 8i64 < 3i64 && (6i64).wrapping_sub(b) < a{
let mut stack = vec![a, b]; 'l2: while let Some(mut c) = stack.pop() { if w.is_tired() { break }
let _ = w.noisy(2);}1i64} else {
b = 3i64;
if b < c{
w.log(6i64);} else {
w.log((((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).wrapping_mul(((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))));}(b).wrapping_add((2i64).wrapping_sub(a))})); fiber }.await? else {return Ok(End::Value(0i64))};
if 6i64 > w.wait(((b).wrapping_add(c)).wrapping_sub(c)).await?{} else {}
let argument = w.wait(c).await?; let held = w.wait_some(argument); if let Some(mut a) = held.await? {
if w.check(b)? < (1i64).wrapping_mul((((7i64).wrapping_add(6i64)).wrapping_sub(a)).wrapping_add(b)){
if (c).wrapping_add(a) < c{
w.log(((a).wrapping_sub(1i64)).wrapping_sub(3i64));
b = b.wrapping_sub(c);} else {
if c < 3i64{return Ok(End::Value((if (0i64).wrapping_mul(b) < 4i64{c} else {2i64})))}
w.log(a);}} else {
'l3: while !w.is_tired() && ((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64) < (4i64).wrapping_sub(b){}
if let Some(mut b) = w.wait_some(c).await?{}}}
let g3 = w.noisy(3);{}if !(3i64 < 5i64){ drop(g3); }Ok(End::Value(w.beside(&w.noisy(4), w.beside(&w.noisy(5), a)))) }.await; match end? { End::Value(n) => Ok(n), End::TailCall(n) => w.wait(n).await } }).boxed() }
fn fiber_19(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { let (mut a, mut b, mut c) = (n, 1i64, 2i64);
let! Some(mut a) = w.wait_some(w.check(3i64)?) else {return (w.check((b).wrapping_sub(c))?)};
if let Some(mut b) = do! w.wait_some(do! w.wait((match 2i64{0 | 3 => {3i64}n @ 1..=5 if n > 2 => {
w.log(1i64);
a = c;a}n if n < a => {5i64}_ => {a}}))){}
let mut b = w.beside(&w.noisy(1), ('l0: loop { if w.is_tired() { break 'l0 0i64 }break 'l0 a; }));
let mut stack = vec![a, b]; 'l1: while let Some(mut b) = stack.pop() { if w.is_tired() { break }
{ let mut other = 1i64; let borrowed = if c > 3 { &mut c } else { &mut other };let! got = w.wait(4i64); *borrowed = borrowed.wrapping_add(got); w.log(*borrowed); }w.log(c);
if w.check(7i64)? < 0i64{continue 'l1}}
let! Some(mut a) = w.wait_some((if 8i64 < 3i64 && (6i64).wrapping_sub(b) < a{
let mut stack = vec![a, b]; 'l2: while let Some(mut c) = stack.pop() { if w.is_tired() { break }
let _ = w.noisy(2);}1i64} else {
b = 3i64;
if b < c{
w.log(6i64);} else {
w.log((((c).wrapping_add(c)).wrapping_mul((6i64).wrapping_mul(b))).wrapping_mul(((a).wrapping_mul((c).wrapping_add(6i64))).wrapping_sub(((c).wrapping_sub((a).wrapping_add(b))).wrapping_sub(3i64))));}(b).wrapping_add((2i64).wrapping_sub(a))})) else {return (0i64)};
if 6i64 > do! w.wait(((b).wrapping_add(c)).wrapping_sub(c)){} else {}
let argument = do! w.wait(c); let held = w.wait_some(argument); if let Some(mut a) = do! held {
if w.check(b)? < (1i64).wrapping_mul((((7i64).wrapping_add(6i64)).wrapping_sub(a)).wrapping_add(b)){
if (c).wrapping_add(a) < c{
w.log(((a).wrapping_sub(1i64)).wrapping_sub(3i64));
b = b.wrapping_sub(c);} else {
if c < 3i64{return ((if (0i64).wrapping_mul(b) < 4i64{c} else {2i64}))}
w.log(a);}} else {
'l3: while !w.is_tired() && ((((b).wrapping_mul(3i64)).wrapping_add(((c).wrapping_mul(b)).wrapping_add(((a).wrapping_add(4i64)).wrapping_mul(1i64)))).wrapping_mul(c)).wrapping_add(6i64) < (4i64).wrapping_sub(b){}
if let Some(mut b) = do! w.wait_some(c){}}}
let g3 = w.noisy(3);{}if !(3i64 < 5i64){ drop(g3); }w.beside(&w.noisy(4), w.beside(&w.noisy(5), a))} }
fn async_0_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); { let fiber = w.wait(w.beside(&w.noisy(1), n)); fiber }.await?; w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_0_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); do! w.wait(w.beside(&w.noisy(1), n)); w.log(9); n } }
fn async_0_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); { let fiber = w.noisy(1).wait(n); fiber }.await?; w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_0_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); do! w.noisy(1).wait(n); w.log(9); n } }
fn async_0_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); { let fiber = w.wait(w.beside(&w.noisy(1), w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?)); fiber }.await?; w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_0_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); do! w.wait(w.beside(&w.noisy(1), do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))))); w.log(9); n } }
fn async_0_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); { let fiber = match w.noisy(1).number() { one => w.wait(one + n) }; fiber }.await?; w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_0_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); do! match w.noisy(1).number() { one => w.wait(one + n) }; w.log(9); n } }
fn async_0_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); { let fiber = if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }; fiber }.await?; w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_0_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }; w.log(9); n } }
fn async_1_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = { let fiber = w.wait(w.beside(&w.noisy(1), n)); fiber }.await?; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_1_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = do! w.wait(w.beside(&w.noisy(1), n)); w.log(a); w.log(9); n } }
fn async_1_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = { let fiber = w.noisy(1).wait(n); fiber }.await?; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_1_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = do! w.noisy(1).wait(n); w.log(a); w.log(9); n } }
fn async_1_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = { let fiber = w.wait(w.beside(&w.noisy(1), w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?)); fiber }.await?; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_1_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = do! w.wait(w.beside(&w.noisy(1), do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))))); w.log(a); w.log(9); n } }
fn async_1_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = { let fiber = match w.noisy(1).number() { one => w.wait(one + n) }; fiber }.await?; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_1_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = do! match w.noisy(1).number() { one => w.wait(one + n) }; w.log(a); w.log(9); n } }
fn async_1_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = { let fiber = if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }; fiber }.await?; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_1_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }; w.log(a); w.log(9); n } }
fn async_2_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let (a, _) = (w.wait(w.beside(&w.noisy(1), n)).await?, w.noisy(7)); w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_2_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let (a, _) = (do! w.wait(w.beside(&w.noisy(1), n)), w.noisy(7)); w.log(a); w.log(9); n } }
fn async_2_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let (a, _) = (w.noisy(1).wait(n).await?, w.noisy(7)); w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_2_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let (a, _) = (do! w.noisy(1).wait(n), w.noisy(7)); w.log(a); w.log(9); n } }
fn async_2_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let (a, _) = (w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?, w.noisy(7)); w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_2_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let (a, _) = (do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))), w.noisy(7)); w.log(a); w.log(9); n } }
fn async_2_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let (a, _) = (match w.noisy(1).number() { one => w.wait(one + n) }.await?, w.noisy(7)); w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_2_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let (a, _) = (do! match w.noisy(1).number() { one => w.wait(one + n) }, w.noisy(7)); w.log(a); w.log(9); n } }
fn async_2_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let (a, _) = (if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?, w.noisy(7)); w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_2_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let (a, _) = (do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }, w.noisy(7)); w.log(a); w.log(9); n } }
fn async_3_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let Some(a) = w.some(w.wait(w.beside(&w.noisy(1), n)).await?) else { w.log(70); return Ok(7) }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_3_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let Some(a) = w.some(do! w.wait(w.beside(&w.noisy(1), n))) else { w.log(70); return (7) }; w.log(a); w.log(9); n } }
fn async_3_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let Some(a) = w.some(w.noisy(1).wait(n).await?) else { w.log(70); return Ok(7) }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_3_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let Some(a) = w.some(do! w.noisy(1).wait(n)) else { w.log(70); return (7) }; w.log(a); w.log(9); n } }
fn async_3_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let Some(a) = w.some(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?) else { w.log(70); return Ok(7) }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_3_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let Some(a) = w.some(do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n)))) else { w.log(70); return (7) }; w.log(a); w.log(9); n } }
fn async_3_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let Some(a) = w.some(match w.noisy(1).number() { one => w.wait(one + n) }.await?) else { w.log(70); return Ok(7) }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_3_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let Some(a) = w.some(do! match w.noisy(1).number() { one => w.wait(one + n) }) else { w.log(70); return (7) }; w.log(a); w.log(9); n } }
fn async_3_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let Some(a) = w.some(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?) else { w.log(70); return Ok(7) }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_3_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let Some(a) = w.some(do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }) else { w.log(70); return (7) }; w.log(a); w.log(9); n } }
fn async_4_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = { { let fiber = w.wait(w.beside(&w.noisy(1), n)); fiber }.await? } + w.noisy(7).number(); w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_4_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = { do! w.wait(w.beside(&w.noisy(1), n)) } + w.noisy(7).number(); w.log(a); w.log(9); n } }
fn async_4_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = { { let fiber = w.noisy(1).wait(n); fiber }.await? } + w.noisy(7).number(); w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_4_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = { do! w.noisy(1).wait(n) } + w.noisy(7).number(); w.log(a); w.log(9); n } }
fn async_4_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = { { let fiber = w.wait(w.beside(&w.noisy(1), w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?)); fiber }.await? } + w.noisy(7).number(); w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_4_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = { do! w.wait(w.beside(&w.noisy(1), do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))))) } + w.noisy(7).number(); w.log(a); w.log(9); n } }
fn async_4_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = { { let fiber = match w.noisy(1).number() { one => w.wait(one + n) }; fiber }.await? } + w.noisy(7).number(); w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_4_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = { do! match w.noisy(1).number() { one => w.wait(one + n) } } + w.noisy(7).number(); w.log(a); w.log(9); n } }
fn async_4_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = { { let fiber = if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }; fiber }.await? } + w.noisy(7).number(); w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_4_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = { do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } } + w.noisy(7).number(); w.log(a); w.log(9); n } }
fn async_5_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = { w.log(7); w.wait(w.beside(&w.noisy(1), n)).await? + w.noisy(7).number() }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_5_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = { w.log(7); do! w.wait(w.beside(&w.noisy(1), n)) + w.noisy(7).number() }; w.log(a); w.log(9); n } }
fn async_5_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = { w.log(7); w.noisy(1).wait(n).await? + w.noisy(7).number() }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_5_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = { w.log(7); do! w.noisy(1).wait(n) + w.noisy(7).number() }; w.log(a); w.log(9); n } }
fn async_5_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = { w.log(7); w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? + w.noisy(7).number() }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_5_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = { w.log(7); do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) + w.noisy(7).number() }; w.log(a); w.log(9); n } }
fn async_5_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = { w.log(7); match w.noisy(1).number() { one => w.wait(one + n) }.await? + w.noisy(7).number() }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_5_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = { w.log(7); do! match w.noisy(1).number() { one => w.wait(one + n) } + w.noisy(7).number() }; w.log(a); w.log(9); n } }
fn async_5_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = { w.log(7); if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? + w.noisy(7).number() }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_5_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = { w.log(7); do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } + w.noisy(7).number() }; w.log(a); w.log(9); n } }
fn async_6_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = &w.wait(w.beside(&w.noisy(1), n)).await?; w.log(*a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_6_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = &do! w.wait(w.beside(&w.noisy(1), n)); w.log(*a); w.log(9); n } }
fn async_6_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = &w.noisy(1).wait(n).await?; w.log(*a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_6_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = &do! w.noisy(1).wait(n); w.log(*a); w.log(9); n } }
fn async_6_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = &w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?; w.log(*a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_6_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = &do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))); w.log(*a); w.log(9); n } }
fn async_6_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = &match w.noisy(1).number() { one => w.wait(one + n) }.await?; w.log(*a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_6_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = &do! match w.noisy(1).number() { one => w.wait(one + n) }; w.log(*a); w.log(9); n } }
fn async_6_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = &if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?; w.log(*a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_6_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = &do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }; w.log(*a); w.log(9); n } }
fn async_7_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = &(w.wait(w.beside(&w.noisy(1), n)).await?, w.noisy(7).number()); w.log(a.0); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_7_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = &(do! w.wait(w.beside(&w.noisy(1), n)), w.noisy(7).number()); w.log(a.0); w.log(9); n } }
fn async_7_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = &(w.noisy(1).wait(n).await?, w.noisy(7).number()); w.log(a.0); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_7_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = &(do! w.noisy(1).wait(n), w.noisy(7).number()); w.log(a.0); w.log(9); n } }
fn async_7_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = &(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?, w.noisy(7).number()); w.log(a.0); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_7_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = &(do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))), w.noisy(7).number()); w.log(a.0); w.log(9); n } }
fn async_7_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = &(match w.noisy(1).number() { one => w.wait(one + n) }.await?, w.noisy(7).number()); w.log(a.0); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_7_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = &(do! match w.noisy(1).number() { one => w.wait(one + n) }, w.noisy(7).number()); w.log(a.0); w.log(9); n } }
fn async_7_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = &(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?, w.noisy(7).number()); w.log(a.0); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_7_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = &(do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }, w.noisy(7).number()); w.log(a.0); w.log(9); n } }
fn async_8_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = if n > 1 { { let fiber = w.wait(w.beside(&w.noisy(1), n)); fiber }.await? } else { w.wait(w.beside(&w.noisy(1), n)).await? + w.noisy(7).number() }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_8_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = if n > 1 { do! w.wait(w.beside(&w.noisy(1), n)) } else { do! w.wait(w.beside(&w.noisy(1), n)) + w.noisy(7).number() }; w.log(a); w.log(9); n } }
fn async_8_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = if n > 1 { { let fiber = w.noisy(1).wait(n); fiber }.await? } else { w.noisy(1).wait(n).await? + w.noisy(7).number() }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_8_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = if n > 1 { do! w.noisy(1).wait(n) } else { do! w.noisy(1).wait(n) + w.noisy(7).number() }; w.log(a); w.log(9); n } }
fn async_8_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = if n > 1 { { let fiber = w.wait(w.beside(&w.noisy(1), w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?)); fiber }.await? } else { w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? + w.noisy(7).number() }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_8_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = if n > 1 { do! w.wait(w.beside(&w.noisy(1), do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))))) } else { do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) + w.noisy(7).number() }; w.log(a); w.log(9); n } }
fn async_8_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = if n > 1 { { let fiber = match w.noisy(1).number() { one => w.wait(one + n) }; fiber }.await? } else { match w.noisy(1).number() { one => w.wait(one + n) }.await? + w.noisy(7).number() }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_8_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = if n > 1 { do! match w.noisy(1).number() { one => w.wait(one + n) } } else { do! match w.noisy(1).number() { one => w.wait(one + n) } + w.noisy(7).number() }; w.log(a); w.log(9); n } }
fn async_8_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = if n > 1 { { let fiber = if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }; fiber }.await? } else { if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? + w.noisy(7).number() }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_8_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = if n > 1 { do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } } else { do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } + w.noisy(7).number() }; w.log(a); w.log(9); n } }
fn async_9_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = match n { 0 => { let fiber = w.wait(w.beside(&w.noisy(1), n)); fiber }.await?, 1 => w.wait(w.beside(&w.noisy(1), n)).await? + w.noisy(7).number(), _ => { { let fiber = w.wait(w.beside(&w.noisy(1), n)); fiber }.await? } }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_9_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = match n { 0 => do! w.wait(w.beside(&w.noisy(1), n)), 1 => do! w.wait(w.beside(&w.noisy(1), n)) + w.noisy(7).number(), _ => { do! w.wait(w.beside(&w.noisy(1), n)) } }; w.log(a); w.log(9); n } }
fn async_9_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = match n { 0 => { let fiber = w.noisy(1).wait(n); fiber }.await?, 1 => w.noisy(1).wait(n).await? + w.noisy(7).number(), _ => { { let fiber = w.noisy(1).wait(n); fiber }.await? } }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_9_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = match n { 0 => do! w.noisy(1).wait(n), 1 => do! w.noisy(1).wait(n) + w.noisy(7).number(), _ => { do! w.noisy(1).wait(n) } }; w.log(a); w.log(9); n } }
fn async_9_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = match n { 0 => { let fiber = w.wait(w.beside(&w.noisy(1), w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?)); fiber }.await?, 1 => w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? + w.noisy(7).number(), _ => { { let fiber = w.wait(w.beside(&w.noisy(1), w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?)); fiber }.await? } }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_9_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = match n { 0 => do! w.wait(w.beside(&w.noisy(1), do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))))), 1 => do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) + w.noisy(7).number(), _ => { do! w.wait(w.beside(&w.noisy(1), do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))))) } }; w.log(a); w.log(9); n } }
fn async_9_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = match n { 0 => { let fiber = match w.noisy(1).number() { one => w.wait(one + n) }; fiber }.await?, 1 => match w.noisy(1).number() { one => w.wait(one + n) }.await? + w.noisy(7).number(), _ => { { let fiber = match w.noisy(1).number() { one => w.wait(one + n) }; fiber }.await? } }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_9_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = match n { 0 => do! match w.noisy(1).number() { one => w.wait(one + n) }, 1 => do! match w.noisy(1).number() { one => w.wait(one + n) } + w.noisy(7).number(), _ => { do! match w.noisy(1).number() { one => w.wait(one + n) } } }; w.log(a); w.log(9); n } }
fn async_9_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = match n { 0 => { let fiber = if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }; fiber }.await?, 1 => if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? + w.noisy(7).number(), _ => { { let fiber = if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }; fiber }.await? } }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_9_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = match n { 0 => do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }, 1 => do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } + w.noisy(7).number(), _ => { do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } } }; w.log(a); w.log(9); n } }
fn async_10_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = 'a: { if w.wait(w.beside(&w.noisy(1), n)).await? > 3 { break 'a w.wait(w.beside(&w.noisy(1), n)).await? + w.noisy(7).number() } 0 }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_10_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = 'a: { if do! w.wait(w.beside(&w.noisy(1), n)) > 3 { break 'a do! w.wait(w.beside(&w.noisy(1), n)) + w.noisy(7).number() } 0 }; w.log(a); w.log(9); n } }
fn async_10_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = 'a: { if w.noisy(1).wait(n).await? > 3 { break 'a w.noisy(1).wait(n).await? + w.noisy(7).number() } 0 }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_10_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = 'a: { if do! w.noisy(1).wait(n) > 3 { break 'a do! w.noisy(1).wait(n) + w.noisy(7).number() } 0 }; w.log(a); w.log(9); n } }
fn async_10_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = 'a: { if w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? > 3 { break 'a w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? + w.noisy(7).number() } 0 }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_10_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = 'a: { if do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) > 3 { break 'a do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) + w.noisy(7).number() } 0 }; w.log(a); w.log(9); n } }
fn async_10_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = 'a: { if match w.noisy(1).number() { one => w.wait(one + n) }.await? > 3 { break 'a match w.noisy(1).number() { one => w.wait(one + n) }.await? + w.noisy(7).number() } 0 }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_10_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = 'a: { if do! match w.noisy(1).number() { one => w.wait(one + n) } > 3 { break 'a do! match w.noisy(1).number() { one => w.wait(one + n) } + w.noisy(7).number() } 0 }; w.log(a); w.log(9); n } }
fn async_10_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = 'a: { if if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? > 3 { break 'a if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? + w.noisy(7).number() } 0 }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_10_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = 'a: { if do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } > 3 { break 'a do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } + w.noisy(7).number() } 0 }; w.log(a); w.log(9); n } }
fn async_11_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = loop { break w.wait(w.beside(&w.noisy(1), n)).await?; }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_11_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = loop { break do! w.wait(w.beside(&w.noisy(1), n)); }; w.log(a); w.log(9); n } }
fn async_11_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = loop { break w.noisy(1).wait(n).await?; }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_11_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = loop { break do! w.noisy(1).wait(n); }; w.log(a); w.log(9); n } }
fn async_11_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = loop { break w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?; }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_11_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = loop { break do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))); }; w.log(a); w.log(9); n } }
fn async_11_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = loop { break match w.noisy(1).number() { one => w.wait(one + n) }.await?; }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_11_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = loop { break do! match w.noisy(1).number() { one => w.wait(one + n) }; }; w.log(a); w.log(9); n } }
fn async_11_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let a = loop { break if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?; }; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_11_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let a = loop { break do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }; }; w.log(a); w.log(9); n } }
fn async_12_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = 0; a = w.wait(w.beside(&w.noisy(1), n)).await?; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_12_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = 0; a = do! w.wait(w.beside(&w.noisy(1), n)); w.log(a); w.log(9); n } }
fn async_12_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = 0; a = w.noisy(1).wait(n).await?; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_12_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = 0; a = do! w.noisy(1).wait(n); w.log(a); w.log(9); n } }
fn async_12_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = 0; a = w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_12_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = 0; a = do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))); w.log(a); w.log(9); n } }
fn async_12_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = 0; a = match w.noisy(1).number() { one => w.wait(one + n) }.await?; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_12_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = 0; a = do! match w.noisy(1).number() { one => w.wait(one + n) }; w.log(a); w.log(9); n } }
fn async_12_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = 0; a = if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?; w.log(a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_12_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = 0; a = do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }; w.log(a); w.log(9); n } }
fn async_13_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = [0]; a[w.noisy(7).number() as usize - 7] += w.wait(w.beside(&w.noisy(1), n)).await?; w.log(a[0]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_13_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = [0]; a[w.noisy(7).number() as usize - 7] += do! w.wait(w.beside(&w.noisy(1), n)); w.log(a[0]); w.log(9); n } }
fn async_13_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = [0]; a[w.noisy(7).number() as usize - 7] += w.noisy(1).wait(n).await?; w.log(a[0]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_13_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = [0]; a[w.noisy(7).number() as usize - 7] += do! w.noisy(1).wait(n); w.log(a[0]); w.log(9); n } }
fn async_13_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = [0]; a[w.noisy(7).number() as usize - 7] += w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?; w.log(a[0]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_13_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = [0]; a[w.noisy(7).number() as usize - 7] += do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))); w.log(a[0]); w.log(9); n } }
fn async_13_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = [0]; a[w.noisy(7).number() as usize - 7] += match w.noisy(1).number() { one => w.wait(one + n) }.await?; w.log(a[0]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_13_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = [0]; a[w.noisy(7).number() as usize - 7] += do! match w.noisy(1).number() { one => w.wait(one + n) }; w.log(a[0]); w.log(9); n } }
fn async_13_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = [0]; a[w.noisy(7).number() as usize - 7] += if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?; w.log(a[0]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_13_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = [0]; a[w.noisy(7).number() as usize - 7] += do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }; w.log(a[0]); w.log(9); n } }
fn async_14_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = [0]; *(&mut a[0]) -= w.wait(w.beside(&w.noisy(1), n)).await? * w.noisy(7).number(); w.log(a[0]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_14_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = [0]; *(&mut a[0]) -= do! w.wait(w.beside(&w.noisy(1), n)) * w.noisy(7).number(); w.log(a[0]); w.log(9); n } }
fn async_14_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = [0]; *(&mut a[0]) -= w.noisy(1).wait(n).await? * w.noisy(7).number(); w.log(a[0]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_14_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = [0]; *(&mut a[0]) -= do! w.noisy(1).wait(n) * w.noisy(7).number(); w.log(a[0]); w.log(9); n } }
fn async_14_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = [0]; *(&mut a[0]) -= w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? * w.noisy(7).number(); w.log(a[0]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_14_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = [0]; *(&mut a[0]) -= do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) * w.noisy(7).number(); w.log(a[0]); w.log(9); n } }
fn async_14_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = [0]; *(&mut a[0]) -= match w.noisy(1).number() { one => w.wait(one + n) }.await? * w.noisy(7).number(); w.log(a[0]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_14_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = [0]; *(&mut a[0]) -= do! match w.noisy(1).number() { one => w.wait(one + n) } * w.noisy(7).number(); w.log(a[0]); w.log(9); n } }
fn async_14_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = [0]; *(&mut a[0]) -= if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? * w.noisy(7).number(); w.log(a[0]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_14_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = [0]; *(&mut a[0]) -= do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } * w.noisy(7).number(); w.log(a[0]); w.log(9); n } }
fn async_15_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.wait(w.beside(&w.noisy(1), n)).await?); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_15_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(do! w.wait(w.beside(&w.noisy(1), n))); w.log(9); n } }
fn async_15_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.noisy(1).wait(n).await?); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_15_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(do! w.noisy(1).wait(n)); w.log(9); n } }
fn async_15_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_15_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n)))); w.log(9); n } }
fn async_15_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(match w.noisy(1).number() { one => w.wait(one + n) }.await?); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_15_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(do! match w.noisy(1).number() { one => w.wait(one + n) }); w.log(9); n } }
fn async_15_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_15_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }); w.log(9); n } }
fn async_16_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(-w.wait(w.beside(&w.noisy(1), n)).await?); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_16_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(-do! w.wait(w.beside(&w.noisy(1), n))); w.log(9); n } }
fn async_16_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(-w.noisy(1).wait(n).await?); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_16_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(-do! w.noisy(1).wait(n)); w.log(9); n } }
fn async_16_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(-w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_16_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(-do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n)))); w.log(9); n } }
fn async_16_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(-match w.noisy(1).number() { one => w.wait(one + n) }.await?); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_16_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(-do! match w.noisy(1).number() { one => w.wait(one + n) }); w.log(9); n } }
fn async_16_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(-if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_16_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(-do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }); w.log(9); n } }
fn async_17_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.wait(w.beside(&w.noisy(1), n)).await? as i8 as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_17_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(do! w.wait(w.beside(&w.noisy(1), n)) as i8 as i64); w.log(9); n } }
fn async_17_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.noisy(1).wait(n).await? as i8 as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_17_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(do! w.noisy(1).wait(n) as i8 as i64); w.log(9); n } }
fn async_17_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? as i8 as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_17_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) as i8 as i64); w.log(9); n } }
fn async_17_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(match w.noisy(1).number() { one => w.wait(one + n) }.await? as i8 as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_17_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(do! match w.noisy(1).number() { one => w.wait(one + n) } as i8 as i64); w.log(9); n } }
fn async_17_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? as i8 as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_17_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } as i8 as i64); w.log(9); n } }
fn async_18_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.pair(w.noisy(7).number(), w.wait(w.beside(&w.noisy(1), n)).await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_18_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.pair(w.noisy(7).number(), do! w.wait(w.beside(&w.noisy(1), n)))); w.log(9); n } }
fn async_18_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.pair(w.noisy(7).number(), w.noisy(1).wait(n).await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_18_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.pair(w.noisy(7).number(), do! w.noisy(1).wait(n))); w.log(9); n } }
fn async_18_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.pair(w.noisy(7).number(), w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_18_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.pair(w.noisy(7).number(), do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))))); w.log(9); n } }
fn async_18_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.pair(w.noisy(7).number(), match w.noisy(1).number() { one => w.wait(one + n) }.await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_18_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.pair(w.noisy(7).number(), do! match w.noisy(1).number() { one => w.wait(one + n) })); w.log(9); n } }
fn async_18_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.pair(w.noisy(7).number(), if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_18_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.pair(w.noisy(7).number(), do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) })); w.log(9); n } }
fn async_19_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.pair(w.wait(w.beside(&w.noisy(1), n)).await?, w.noisy(7).number())); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_19_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.pair(do! w.wait(w.beside(&w.noisy(1), n)), w.noisy(7).number())); w.log(9); n } }
fn async_19_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.pair(w.noisy(1).wait(n).await?, w.noisy(7).number())); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_19_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.pair(do! w.noisy(1).wait(n), w.noisy(7).number())); w.log(9); n } }
fn async_19_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.pair(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?, w.noisy(7).number())); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_19_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.pair(do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))), w.noisy(7).number())); w.log(9); n } }
fn async_19_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.pair(match w.noisy(1).number() { one => w.wait(one + n) }.await?, w.noisy(7).number())); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_19_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.pair(do! match w.noisy(1).number() { one => w.wait(one + n) }, w.noisy(7).number())); w.log(9); n } }
fn async_19_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.pair(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?, w.noisy(7).number())); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_19_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.pair(do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }, w.noisy(7).number())); w.log(9); n } }
fn async_20_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.pair(w.wait(w.beside(&w.noisy(1), n)).await?, w.wait(w.beside(&w.noisy(1), n)).await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_20_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.pair(do! w.wait(w.beside(&w.noisy(1), n)), do! w.wait(w.beside(&w.noisy(1), n)))); w.log(9); n } }
fn async_20_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.pair(w.noisy(1).wait(n).await?, w.noisy(1).wait(n).await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_20_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.pair(do! w.noisy(1).wait(n), do! w.noisy(1).wait(n))); w.log(9); n } }
fn async_20_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.pair(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?, w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_20_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.pair(do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))), do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))))); w.log(9); n } }
fn async_20_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.pair(match w.noisy(1).number() { one => w.wait(one + n) }.await?, match w.noisy(1).number() { one => w.wait(one + n) }.await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_20_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.pair(do! match w.noisy(1).number() { one => w.wait(one + n) }, do! match w.noisy(1).number() { one => w.wait(one + n) })); w.log(9); n } }
fn async_20_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.pair(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?, if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_20_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.pair(do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }, do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) })); w.log(9); n } }
fn async_21_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((w.wait(w.beside(&w.noisy(1), n)).await?).wrapping_add(w.noisy(7).number())); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_21_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((do! w.wait(w.beside(&w.noisy(1), n))).wrapping_add(w.noisy(7).number())); w.log(9); n } }
fn async_21_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((w.noisy(1).wait(n).await?).wrapping_add(w.noisy(7).number())); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_21_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((do! w.noisy(1).wait(n)).wrapping_add(w.noisy(7).number())); w.log(9); n } }
fn async_21_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?).wrapping_add(w.noisy(7).number())); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_21_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n)))).wrapping_add(w.noisy(7).number())); w.log(9); n } }
fn async_21_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((match w.noisy(1).number() { one => w.wait(one + n) }.await?).wrapping_add(w.noisy(7).number())); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_21_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((do! match w.noisy(1).number() { one => w.wait(one + n) }).wrapping_add(w.noisy(7).number())); w.log(9); n } }
fn async_21_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?).wrapping_add(w.noisy(7).number())); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_21_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }).wrapping_add(w.noisy(7).number())); w.log(9); n } }
fn async_22_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.noisy(7).number().wrapping_add(w.wait(w.beside(&w.noisy(1), n)).await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_22_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.noisy(7).number().wrapping_add(do! w.wait(w.beside(&w.noisy(1), n)))); w.log(9); n } }
fn async_22_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.noisy(7).number().wrapping_add(w.noisy(1).wait(n).await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_22_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.noisy(7).number().wrapping_add(do! w.noisy(1).wait(n))); w.log(9); n } }
fn async_22_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.noisy(7).number().wrapping_add(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_22_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.noisy(7).number().wrapping_add(do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))))); w.log(9); n } }
fn async_22_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.noisy(7).number().wrapping_add(match w.noisy(1).number() { one => w.wait(one + n) }.await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_22_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.noisy(7).number().wrapping_add(do! match w.noisy(1).number() { one => w.wait(one + n) })); w.log(9); n } }
fn async_22_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.noisy(7).number().wrapping_add(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_22_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.noisy(7).number().wrapping_add(do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) })); w.log(9); n } }
fn async_23_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.noisy(7).number() + w.wait(w.beside(&w.noisy(1), n)).await? * w.noisy(8).number()); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_23_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.noisy(7).number() + do! w.wait(w.beside(&w.noisy(1), n)) * w.noisy(8).number()); w.log(9); n } }
fn async_23_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.noisy(7).number() + w.noisy(1).wait(n).await? * w.noisy(8).number()); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_23_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.noisy(7).number() + do! w.noisy(1).wait(n) * w.noisy(8).number()); w.log(9); n } }
fn async_23_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.noisy(7).number() + w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? * w.noisy(8).number()); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_23_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.noisy(7).number() + do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) * w.noisy(8).number()); w.log(9); n } }
fn async_23_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.noisy(7).number() + match w.noisy(1).number() { one => w.wait(one + n) }.await? * w.noisy(8).number()); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_23_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.noisy(7).number() + do! match w.noisy(1).number() { one => w.wait(one + n) } * w.noisy(8).number()); w.log(9); n } }
fn async_23_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.noisy(7).number() + if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? * w.noisy(8).number()); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_23_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.noisy(7).number() + do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } * w.noisy(8).number()); w.log(9); n } }
fn async_24_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log([4, 5, 6][w.wait(w.beside(&w.noisy(1), n)).await? as usize % 3]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_24_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log([4, 5, 6][do! w.wait(w.beside(&w.noisy(1), n)) as usize % 3]); w.log(9); n } }
fn async_24_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log([4, 5, 6][w.noisy(1).wait(n).await? as usize % 3]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_24_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log([4, 5, 6][do! w.noisy(1).wait(n) as usize % 3]); w.log(9); n } }
fn async_24_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log([4, 5, 6][w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? as usize % 3]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_24_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log([4, 5, 6][do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) as usize % 3]); w.log(9); n } }
fn async_24_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log([4, 5, 6][match w.noisy(1).number() { one => w.wait(one + n) }.await? as usize % 3]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_24_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log([4, 5, 6][do! match w.noisy(1).number() { one => w.wait(one + n) } as usize % 3]); w.log(9); n } }
fn async_24_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log([4, 5, 6][if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? as usize % 3]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_24_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log([4, 5, 6][do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } as usize % 3]); w.log(9); n } }
fn async_25_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log([w.wait(w.beside(&w.noisy(1), n)).await?, w.noisy(7).number()][1]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_25_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log([do! w.wait(w.beside(&w.noisy(1), n)), w.noisy(7).number()][1]); w.log(9); n } }
fn async_25_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log([w.noisy(1).wait(n).await?, w.noisy(7).number()][1]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_25_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log([do! w.noisy(1).wait(n), w.noisy(7).number()][1]); w.log(9); n } }
fn async_25_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log([w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?, w.noisy(7).number()][1]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_25_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log([do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))), w.noisy(7).number()][1]); w.log(9); n } }
fn async_25_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log([match w.noisy(1).number() { one => w.wait(one + n) }.await?, w.noisy(7).number()][1]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_25_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log([do! match w.noisy(1).number() { one => w.wait(one + n) }, w.noisy(7).number()][1]); w.log(9); n } }
fn async_25_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log([if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?, w.noisy(7).number()][1]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_25_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log([do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }, w.noisy(7).number()][1]); w.log(9); n } }
fn async_26_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log([w.wait(w.beside(&w.noisy(1), n)).await?; 2][1]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_26_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log([do! w.wait(w.beside(&w.noisy(1), n)); 2][1]); w.log(9); n } }
fn async_26_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log([w.noisy(1).wait(n).await?; 2][1]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_26_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log([do! w.noisy(1).wait(n); 2][1]); w.log(9); n } }
fn async_26_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log([w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?; 2][1]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_26_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log([do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))); 2][1]); w.log(9); n } }
fn async_26_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log([match w.noisy(1).number() { one => w.wait(one + n) }.await?; 2][1]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_26_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log([do! match w.noisy(1).number() { one => w.wait(one + n) }; 2][1]); w.log(9); n } }
fn async_26_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log([if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?; 2][1]); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_26_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log([do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }; 2][1]); w.log(9); n } }
fn async_27_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((w.wait(w.beside(&w.noisy(1), n)).await?, w.noisy(7)).0); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_27_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((do! w.wait(w.beside(&w.noisy(1), n)), w.noisy(7)).0); w.log(9); n } }
fn async_27_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((w.noisy(1).wait(n).await?, w.noisy(7)).0); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_27_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((do! w.noisy(1).wait(n), w.noisy(7)).0); w.log(9); n } }
fn async_27_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?, w.noisy(7)).0); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_27_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))), w.noisy(7)).0); w.log(9); n } }
fn async_27_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((match w.noisy(1).number() { one => w.wait(one + n) }.await?, w.noisy(7)).0); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_27_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((do! match w.noisy(1).number() { one => w.wait(one + n) }, w.noisy(7)).0); w.log(9); n } }
fn async_27_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?, w.noisy(7)).0); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_27_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }, w.noisy(7)).0); w.log(9); n } }
fn async_28_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(Pair { b: w.noisy(7).number(), a: w.wait(w.beside(&w.noisy(1), n)).await? }.a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_28_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(Pair { b: w.noisy(7).number(), a: do! w.wait(w.beside(&w.noisy(1), n)) }.a); w.log(9); n } }
fn async_28_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(Pair { b: w.noisy(7).number(), a: w.noisy(1).wait(n).await? }.a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_28_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(Pair { b: w.noisy(7).number(), a: do! w.noisy(1).wait(n) }.a); w.log(9); n } }
fn async_28_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(Pair { b: w.noisy(7).number(), a: w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? }.a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_28_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(Pair { b: w.noisy(7).number(), a: do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) }.a); w.log(9); n } }
fn async_28_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(Pair { b: w.noisy(7).number(), a: match w.noisy(1).number() { one => w.wait(one + n) }.await? }.a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_28_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(Pair { b: w.noisy(7).number(), a: do! match w.noisy(1).number() { one => w.wait(one + n) } }.a); w.log(9); n } }
fn async_28_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(Pair { b: w.noisy(7).number(), a: if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? }.a); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_28_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(Pair { b: w.noisy(7).number(), a: do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } }.a); w.log(9); n } }
fn async_29_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(Pair { a: w.noisy(7).number(), ..Pair { a: 1, b: w.wait(w.beside(&w.noisy(1), n)).await? } }.b); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_29_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(Pair { a: w.noisy(7).number(), ..Pair { a: 1, b: do! w.wait(w.beside(&w.noisy(1), n)) } }.b); w.log(9); n } }
fn async_29_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(Pair { a: w.noisy(7).number(), ..Pair { a: 1, b: w.noisy(1).wait(n).await? } }.b); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_29_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(Pair { a: w.noisy(7).number(), ..Pair { a: 1, b: do! w.noisy(1).wait(n) } }.b); w.log(9); n } }
fn async_29_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(Pair { a: w.noisy(7).number(), ..Pair { a: 1, b: w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? } }.b); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_29_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(Pair { a: w.noisy(7).number(), ..Pair { a: 1, b: do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) } }.b); w.log(9); n } }
fn async_29_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(Pair { a: w.noisy(7).number(), ..Pair { a: 1, b: match w.noisy(1).number() { one => w.wait(one + n) }.await? } }.b); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_29_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(Pair { a: w.noisy(7).number(), ..Pair { a: 1, b: do! match w.noisy(1).number() { one => w.wait(one + n) } } }.b); w.log(9); n } }
fn async_29_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(Pair { a: w.noisy(7).number(), ..Pair { a: 1, b: if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? } }.b); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_29_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(Pair { a: w.noisy(7).number(), ..Pair { a: 1, b: do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } } }.b); w.log(9); n } }
fn async_30_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((|v: i64| v + 1)(w.wait(w.beside(&w.noisy(1), n)).await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_30_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((|v: i64| v + 1)(do! w.wait(w.beside(&w.noisy(1), n)))); w.log(9); n } }
fn async_30_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((|v: i64| v + 1)(w.noisy(1).wait(n).await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_30_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((|v: i64| v + 1)(do! w.noisy(1).wait(n))); w.log(9); n } }
fn async_30_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((|v: i64| v + 1)(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_30_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((|v: i64| v + 1)(do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))))); w.log(9); n } }
fn async_30_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((|v: i64| v + 1)(match w.noisy(1).number() { one => w.wait(one + n) }.await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_30_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((|v: i64| v + 1)(do! match w.noisy(1).number() { one => w.wait(one + n) })); w.log(9); n } }
fn async_30_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((|v: i64| v + 1)(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?)); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_30_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((|v: i64| v + 1)(do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) })); w.log(9); n } }
fn async_31_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.beside(&w.noisy(7), w.wait(w.beside(&w.noisy(1), n)).await?)); w.log(8); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_31_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.beside(&w.noisy(7), do! w.wait(w.beside(&w.noisy(1), n)))); w.log(8); w.log(9); n } }
fn async_31_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.beside(&w.noisy(7), w.noisy(1).wait(n).await?)); w.log(8); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_31_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.beside(&w.noisy(7), do! w.noisy(1).wait(n))); w.log(8); w.log(9); n } }
fn async_31_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.beside(&w.noisy(7), w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?)); w.log(8); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_31_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.beside(&w.noisy(7), do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))))); w.log(8); w.log(9); n } }
fn async_31_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.beside(&w.noisy(7), match w.noisy(1).number() { one => w.wait(one + n) }.await?)); w.log(8); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_31_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.beside(&w.noisy(7), do! match w.noisy(1).number() { one => w.wait(one + n) })); w.log(8); w.log(9); n } }
fn async_31_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(w.beside(&w.noisy(7), if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?)); w.log(8); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_31_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(w.beside(&w.noisy(7), do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) })); w.log(8); w.log(9); n } }
fn async_32_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if w.wait(w.beside(&w.noisy(1), n)).await? > 2 { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_32_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if do! w.wait(w.beside(&w.noisy(1), n)) > 2 { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_32_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if w.noisy(1).wait(n).await? > 2 { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_32_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if do! w.noisy(1).wait(n) > 2 { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_32_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? > 2 { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_32_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) > 2 { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_32_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if match w.noisy(1).number() { one => w.wait(one + n) }.await? > 2 { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_32_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if do! match w.noisy(1).number() { one => w.wait(one + n) } > 2 { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_32_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? > 2 { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_32_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } > 2 { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_33_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if w.wait(w.beside(&w.noisy(1), n)).await? < w.noisy(7).number() { w.log(6) } else if w.wait(w.beside(&w.noisy(1), n)).await? > 2 { w.log(8) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_33_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if do! w.wait(w.beside(&w.noisy(1), n)) < w.noisy(7).number() { w.log(6) } else if do! w.wait(w.beside(&w.noisy(1), n)) > 2 { w.log(8) } w.log(9); n } }
fn async_33_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if w.noisy(1).wait(n).await? < w.noisy(7).number() { w.log(6) } else if w.noisy(1).wait(n).await? > 2 { w.log(8) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_33_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if do! w.noisy(1).wait(n) < w.noisy(7).number() { w.log(6) } else if do! w.noisy(1).wait(n) > 2 { w.log(8) } w.log(9); n } }
fn async_33_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? < w.noisy(7).number() { w.log(6) } else if w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? > 2 { w.log(8) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_33_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) < w.noisy(7).number() { w.log(6) } else if do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) > 2 { w.log(8) } w.log(9); n } }
fn async_33_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if match w.noisy(1).number() { one => w.wait(one + n) }.await? < w.noisy(7).number() { w.log(6) } else if match w.noisy(1).number() { one => w.wait(one + n) }.await? > 2 { w.log(8) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_33_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if do! match w.noisy(1).number() { one => w.wait(one + n) } < w.noisy(7).number() { w.log(6) } else if do! match w.noisy(1).number() { one => w.wait(one + n) } > 2 { w.log(8) } w.log(9); n } }
fn async_33_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? < w.noisy(7).number() { w.log(6) } else if if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? > 2 { w.log(8) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_33_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } < w.noisy(7).number() { w.log(6) } else if do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } > 2 { w.log(8) } w.log(9); n } }
fn async_34_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if w.flag(w.wait(w.beside(&w.noisy(1), n)).await?) && w.wait(w.beside(&w.noisy(1), n)).await? < 7 { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_34_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if w.flag(do! w.wait(w.beside(&w.noisy(1), n))) && do! w.wait(w.beside(&w.noisy(1), n)) < 7 { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_34_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if w.flag(w.noisy(1).wait(n).await?) && w.noisy(1).wait(n).await? < 7 { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_34_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if w.flag(do! w.noisy(1).wait(n)) && do! w.noisy(1).wait(n) < 7 { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_34_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if w.flag(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?) && w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? < 7 { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_34_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if w.flag(do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n)))) && do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) < 7 { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_34_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if w.flag(match w.noisy(1).number() { one => w.wait(one + n) }.await?) && match w.noisy(1).number() { one => w.wait(one + n) }.await? < 7 { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_34_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if w.flag(do! match w.noisy(1).number() { one => w.wait(one + n) }) && do! match w.noisy(1).number() { one => w.wait(one + n) } < 7 { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_34_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if w.flag(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?) && if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? < 7 { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_34_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if w.flag(do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }) && do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } < 7 { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_35_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if w.flag(w.wait(w.beside(&w.noisy(1), n)).await?) || w.wait(w.beside(&w.noisy(1), n)).await? < w.noisy(7).number() { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_35_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if w.flag(do! w.wait(w.beside(&w.noisy(1), n))) || do! w.wait(w.beside(&w.noisy(1), n)) < w.noisy(7).number() { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_35_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if w.flag(w.noisy(1).wait(n).await?) || w.noisy(1).wait(n).await? < w.noisy(7).number() { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_35_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if w.flag(do! w.noisy(1).wait(n)) || do! w.noisy(1).wait(n) < w.noisy(7).number() { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_35_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if w.flag(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?) || w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? < w.noisy(7).number() { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_35_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if w.flag(do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n)))) || do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) < w.noisy(7).number() { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_35_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if w.flag(match w.noisy(1).number() { one => w.wait(one + n) }.await?) || match w.noisy(1).number() { one => w.wait(one + n) }.await? < w.noisy(7).number() { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_35_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if w.flag(do! match w.noisy(1).number() { one => w.wait(one + n) }) || do! match w.noisy(1).number() { one => w.wait(one + n) } < w.noisy(7).number() { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_35_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if w.flag(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?) || if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? < w.noisy(7).number() { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_35_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if w.flag(do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }) || do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } < w.noisy(7).number() { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_36_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if !w.flag(w.wait(w.beside(&w.noisy(1), n)).await?) { w.log(6) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_36_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if !w.flag(do! w.wait(w.beside(&w.noisy(1), n))) { w.log(6) } w.log(9); n } }
fn async_36_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if !w.flag(w.noisy(1).wait(n).await?) { w.log(6) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_36_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if !w.flag(do! w.noisy(1).wait(n)) { w.log(6) } w.log(9); n } }
fn async_36_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if !w.flag(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?) { w.log(6) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_36_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if !w.flag(do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n)))) { w.log(6) } w.log(9); n } }
fn async_36_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if !w.flag(match w.noisy(1).number() { one => w.wait(one + n) }.await?) { w.log(6) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_36_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if !w.flag(do! match w.noisy(1).number() { one => w.wait(one + n) }) { w.log(6) } w.log(9); n } }
fn async_36_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if !w.flag(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?) { w.log(6) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_36_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if !w.flag(do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }) { w.log(6) } w.log(9); n } }
fn async_37_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((w.wait(w.beside(&w.noisy(1), n)).await? > 2 && w.wait(w.beside(&w.noisy(1), n)).await? < w.noisy(7).number() || w.wait(w.beside(&w.noisy(1), n)).await? == 7) as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_37_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((do! w.wait(w.beside(&w.noisy(1), n)) > 2 && do! w.wait(w.beside(&w.noisy(1), n)) < w.noisy(7).number() || do! w.wait(w.beside(&w.noisy(1), n)) == 7) as i64); w.log(9); n } }
fn async_37_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((w.noisy(1).wait(n).await? > 2 && w.noisy(1).wait(n).await? < w.noisy(7).number() || w.noisy(1).wait(n).await? == 7) as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_37_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((do! w.noisy(1).wait(n) > 2 && do! w.noisy(1).wait(n) < w.noisy(7).number() || do! w.noisy(1).wait(n) == 7) as i64); w.log(9); n } }
fn async_37_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? > 2 && w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? < w.noisy(7).number() || w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? == 7) as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_37_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) > 2 && do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) < w.noisy(7).number() || do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) == 7) as i64); w.log(9); n } }
fn async_37_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((match w.noisy(1).number() { one => w.wait(one + n) }.await? > 2 && match w.noisy(1).number() { one => w.wait(one + n) }.await? < w.noisy(7).number() || match w.noisy(1).number() { one => w.wait(one + n) }.await? == 7) as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_37_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((do! match w.noisy(1).number() { one => w.wait(one + n) } > 2 && do! match w.noisy(1).number() { one => w.wait(one + n) } < w.noisy(7).number() || do! match w.noisy(1).number() { one => w.wait(one + n) } == 7) as i64); w.log(9); n } }
fn async_37_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log((if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? > 2 && if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? < w.noisy(7).number() || if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? == 7) as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_37_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log((do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } > 2 && do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } < w.noisy(7).number() || do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } == 7) as i64); w.log(9); n } }
fn async_38_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if let Some(a) = w.some(w.wait(w.beside(&w.noisy(1), n)).await?) { w.log(a) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_38_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if let Some(a) = w.some(do! w.wait(w.beside(&w.noisy(1), n))) { w.log(a) } else { w.log(7) } w.log(9); n } }
fn async_38_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if let Some(a) = w.some(w.noisy(1).wait(n).await?) { w.log(a) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_38_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if let Some(a) = w.some(do! w.noisy(1).wait(n)) { w.log(a) } else { w.log(7) } w.log(9); n } }
fn async_38_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if let Some(a) = w.some(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?) { w.log(a) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_38_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if let Some(a) = w.some(do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n)))) { w.log(a) } else { w.log(7) } w.log(9); n } }
fn async_38_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if let Some(a) = w.some(match w.noisy(1).number() { one => w.wait(one + n) }.await?) { w.log(a) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_38_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if let Some(a) = w.some(do! match w.noisy(1).number() { one => w.wait(one + n) }) { w.log(a) } else { w.log(7) } w.log(9); n } }
fn async_38_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if let Some(a) = w.some(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?) { w.log(a) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_38_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if let Some(a) = w.some(do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }) { w.log(a) } else { w.log(7) } w.log(9); n } }
fn async_39_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if let 2.. = w.wait(w.beside(&w.noisy(1), n)).await? { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_39_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if let 2.. = do! w.wait(w.beside(&w.noisy(1), n)) { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_39_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if let 2.. = w.noisy(1).wait(n).await? { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_39_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if let 2.. = do! w.noisy(1).wait(n) { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_39_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if let 2.. = w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_39_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if let 2.. = do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_39_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if let 2.. = match w.noisy(1).number() { one => w.wait(one + n) }.await? { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_39_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if let 2.. = do! match w.noisy(1).number() { one => w.wait(one + n) } { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_39_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if let 2.. = if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? { w.log(6) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_39_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if let 2.. = do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } { w.log(6) } else { w.log(7) } w.log(9); n } }
fn async_40_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if let Some(a) = w.some(w.wait(w.beside(&w.noisy(1), n)).await?) && a < w.wait(w.beside(&w.noisy(1), n)).await? && let Some(b) = w.some(a + w.wait(w.beside(&w.noisy(1), n)).await?) { w.log(b) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_40_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if let Some(a) = w.some(do! w.wait(w.beside(&w.noisy(1), n))) && a < do! w.wait(w.beside(&w.noisy(1), n)) && let Some(b) = w.some(a + do! w.wait(w.beside(&w.noisy(1), n))) { w.log(b) } else { w.log(7) } w.log(9); n } }
fn async_40_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if let Some(a) = w.some(w.noisy(1).wait(n).await?) && a < w.noisy(1).wait(n).await? && let Some(b) = w.some(a + w.noisy(1).wait(n).await?) { w.log(b) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_40_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if let Some(a) = w.some(do! w.noisy(1).wait(n)) && a < do! w.noisy(1).wait(n) && let Some(b) = w.some(a + do! w.noisy(1).wait(n)) { w.log(b) } else { w.log(7) } w.log(9); n } }
fn async_40_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if let Some(a) = w.some(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?) && a < w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? && let Some(b) = w.some(a + w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?) { w.log(b) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_40_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if let Some(a) = w.some(do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n)))) && a < do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) && let Some(b) = w.some(a + do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n)))) { w.log(b) } else { w.log(7) } w.log(9); n } }
fn async_40_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if let Some(a) = w.some(match w.noisy(1).number() { one => w.wait(one + n) }.await?) && a < match w.noisy(1).number() { one => w.wait(one + n) }.await? && let Some(b) = w.some(a + match w.noisy(1).number() { one => w.wait(one + n) }.await?) { w.log(b) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_40_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if let Some(a) = w.some(do! match w.noisy(1).number() { one => w.wait(one + n) }) && a < do! match w.noisy(1).number() { one => w.wait(one + n) } && let Some(b) = w.some(a + do! match w.noisy(1).number() { one => w.wait(one + n) }) { w.log(b) } else { w.log(7) } w.log(9); n } }
fn async_40_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if let Some(a) = w.some(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?) && a < if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? && let Some(b) = w.some(a + if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?) { w.log(b) } else { w.log(7) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_40_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if let Some(a) = w.some(do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }) && a < do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } && let Some(b) = w.some(a + do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }) { w.log(b) } else { w.log(7) } w.log(9); n } }
fn async_41_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match w.wait(w.beside(&w.noisy(1), n)).await? { 1 | 2 => w.log(6), a => w.log(a) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_41_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match do! w.wait(w.beside(&w.noisy(1), n)) { 1 | 2 => w.log(6), a => w.log(a) } w.log(9); n } }
fn async_41_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match w.noisy(1).wait(n).await? { 1 | 2 => w.log(6), a => w.log(a) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_41_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match do! w.noisy(1).wait(n) { 1 | 2 => w.log(6), a => w.log(a) } w.log(9); n } }
fn async_41_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? { 1 | 2 => w.log(6), a => w.log(a) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_41_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) { 1 | 2 => w.log(6), a => w.log(a) } w.log(9); n } }
fn async_41_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match match w.noisy(1).number() { one => w.wait(one + n) }.await? { 1 | 2 => w.log(6), a => w.log(a) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_41_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match do! match w.noisy(1).number() { one => w.wait(one + n) } { 1 | 2 => w.log(6), a => w.log(a) } w.log(9); n } }
fn async_41_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? { 1 | 2 => w.log(6), a => w.log(a) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_41_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } { 1 | 2 => w.log(6), a => w.log(a) } w.log(9); n } }
fn async_42_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match (w.wait(w.beside(&w.noisy(1), n)).await?, w.noisy(7)) { (1, _) => w.log(6), (a, noisy) => w.log(noisy.number() + a) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_42_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match (do! w.wait(w.beside(&w.noisy(1), n)), w.noisy(7)) { (1, _) => w.log(6), (a, noisy) => w.log(noisy.number() + a) } w.log(9); n } }
fn async_42_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match (w.noisy(1).wait(n).await?, w.noisy(7)) { (1, _) => w.log(6), (a, noisy) => w.log(noisy.number() + a) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_42_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match (do! w.noisy(1).wait(n), w.noisy(7)) { (1, _) => w.log(6), (a, noisy) => w.log(noisy.number() + a) } w.log(9); n } }
fn async_42_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match (w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?, w.noisy(7)) { (1, _) => w.log(6), (a, noisy) => w.log(noisy.number() + a) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_42_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match (do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))), w.noisy(7)) { (1, _) => w.log(6), (a, noisy) => w.log(noisy.number() + a) } w.log(9); n } }
fn async_42_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match (match w.noisy(1).number() { one => w.wait(one + n) }.await?, w.noisy(7)) { (1, _) => w.log(6), (a, noisy) => w.log(noisy.number() + a) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_42_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match (do! match w.noisy(1).number() { one => w.wait(one + n) }, w.noisy(7)) { (1, _) => w.log(6), (a, noisy) => w.log(noisy.number() + a) } w.log(9); n } }
fn async_42_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match (if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?, w.noisy(7)) { (1, _) => w.log(6), (a, noisy) => w.log(noisy.number() + a) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_42_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match (do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }, w.noisy(7)) { (1, _) => w.log(6), (a, noisy) => w.log(noisy.number() + a) } w.log(9); n } }
fn async_43_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match n { n if w.wait(w.beside(&w.noisy(1), n)).await? > n + 1 => w.log(6), n if w.wait(w.beside(&w.noisy(1), n)).await? == n + 1 => w.log(w.wait(w.beside(&w.noisy(1), n)).await?), _ => w.log(8) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_43_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match n { n if do! w.wait(w.beside(&w.noisy(1), n)) > n + 1 => w.log(6), n if do! w.wait(w.beside(&w.noisy(1), n)) == n + 1 => w.log(do! w.wait(w.beside(&w.noisy(1), n))), _ => w.log(8) } w.log(9); n } }
fn async_43_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match n { n if w.noisy(1).wait(n).await? > n + 1 => w.log(6), n if w.noisy(1).wait(n).await? == n + 1 => w.log(w.noisy(1).wait(n).await?), _ => w.log(8) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_43_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match n { n if do! w.noisy(1).wait(n) > n + 1 => w.log(6), n if do! w.noisy(1).wait(n) == n + 1 => w.log(do! w.noisy(1).wait(n)), _ => w.log(8) } w.log(9); n } }
fn async_43_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match n { n if w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? > n + 1 => w.log(6), n if w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? == n + 1 => w.log(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?), _ => w.log(8) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_43_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match n { n if do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) > n + 1 => w.log(6), n if do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) == n + 1 => w.log(do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n)))), _ => w.log(8) } w.log(9); n } }
fn async_43_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match n { n if match w.noisy(1).number() { one => w.wait(one + n) }.await? > n + 1 => w.log(6), n if match w.noisy(1).number() { one => w.wait(one + n) }.await? == n + 1 => w.log(match w.noisy(1).number() { one => w.wait(one + n) }.await?), _ => w.log(8) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_43_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match n { n if do! match w.noisy(1).number() { one => w.wait(one + n) } > n + 1 => w.log(6), n if do! match w.noisy(1).number() { one => w.wait(one + n) } == n + 1 => w.log(do! match w.noisy(1).number() { one => w.wait(one + n) }), _ => w.log(8) } w.log(9); n } }
fn async_43_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match n { n if if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? > n + 1 => w.log(6), n if if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? == n + 1 => w.log(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?), _ => w.log(8) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_43_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match n { n if do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } > n + 1 => w.log(6), n if do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } == n + 1 => w.log(do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }), _ => w.log(8) } w.log(9); n } }
fn async_44_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match w.some(n) { Some(a) if a < w.wait(w.beside(&w.noisy(1), n)).await? => w.log(a), _ => w.log(w.noisy(7).number()) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_44_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match w.some(n) { Some(a) if a < do! w.wait(w.beside(&w.noisy(1), n)) => w.log(a), _ => w.log(w.noisy(7).number()) } w.log(9); n } }
fn async_44_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match w.some(n) { Some(a) if a < w.noisy(1).wait(n).await? => w.log(a), _ => w.log(w.noisy(7).number()) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_44_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match w.some(n) { Some(a) if a < do! w.noisy(1).wait(n) => w.log(a), _ => w.log(w.noisy(7).number()) } w.log(9); n } }
fn async_44_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match w.some(n) { Some(a) if a < w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? => w.log(a), _ => w.log(w.noisy(7).number()) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_44_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match w.some(n) { Some(a) if a < do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) => w.log(a), _ => w.log(w.noisy(7).number()) } w.log(9); n } }
fn async_44_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match w.some(n) { Some(a) if a < match w.noisy(1).number() { one => w.wait(one + n) }.await? => w.log(a), _ => w.log(w.noisy(7).number()) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_44_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match w.some(n) { Some(a) if a < do! match w.noisy(1).number() { one => w.wait(one + n) } => w.log(a), _ => w.log(w.noisy(7).number()) } w.log(9); n } }
fn async_44_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); match w.some(n) { Some(a) if a < if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? => w.log(a), _ => w.log(w.noisy(7).number()) } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_44_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); match w.some(n) { Some(a) if a < do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } => w.log(a), _ => w.log(w.noisy(7).number()) } w.log(9); n } }
fn async_45_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = 0; while a < 2 && w.wait(w.beside(&w.noisy(1), n)).await? > a { w.log(a); a += 1; } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_45_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = 0; while a < 2 && do! w.wait(w.beside(&w.noisy(1), n)) > a { w.log(a); a += 1; } w.log(9); n } }
fn async_45_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = 0; while a < 2 && w.noisy(1).wait(n).await? > a { w.log(a); a += 1; } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_45_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = 0; while a < 2 && do! w.noisy(1).wait(n) > a { w.log(a); a += 1; } w.log(9); n } }
fn async_45_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = 0; while a < 2 && w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? > a { w.log(a); a += 1; } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_45_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = 0; while a < 2 && do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) > a { w.log(a); a += 1; } w.log(9); n } }
fn async_45_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = 0; while a < 2 && match w.noisy(1).number() { one => w.wait(one + n) }.await? > a { w.log(a); a += 1; } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_45_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = 0; while a < 2 && do! match w.noisy(1).number() { one => w.wait(one + n) } > a { w.log(a); a += 1; } w.log(9); n } }
fn async_45_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = 0; while a < 2 && if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? > a { w.log(a); a += 1; } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_45_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = 0; while a < 2 && do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } > a { w.log(a); a += 1; } w.log(9); n } }
fn async_46_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = 0; while let Some(b) = w.some(a + w.wait(w.beside(&w.noisy(1), n)).await?) && a < 2 { w.log(b); a += 1; } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_46_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = 0; while let Some(b) = w.some(a + do! w.wait(w.beside(&w.noisy(1), n))) && a < 2 { w.log(b); a += 1; } w.log(9); n } }
fn async_46_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = 0; while let Some(b) = w.some(a + w.noisy(1).wait(n).await?) && a < 2 { w.log(b); a += 1; } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_46_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = 0; while let Some(b) = w.some(a + do! w.noisy(1).wait(n)) && a < 2 { w.log(b); a += 1; } w.log(9); n } }
fn async_46_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = 0; while let Some(b) = w.some(a + w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?) && a < 2 { w.log(b); a += 1; } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_46_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = 0; while let Some(b) = w.some(a + do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n)))) && a < 2 { w.log(b); a += 1; } w.log(9); n } }
fn async_46_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = 0; while let Some(b) = w.some(a + match w.noisy(1).number() { one => w.wait(one + n) }.await?) && a < 2 { w.log(b); a += 1; } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_46_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = 0; while let Some(b) = w.some(a + do! match w.noisy(1).number() { one => w.wait(one + n) }) && a < 2 { w.log(b); a += 1; } w.log(9); n } }
fn async_46_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let mut a = 0; while let Some(b) = w.some(a + if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?) && a < 2 { w.log(b); a += 1; } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_46_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let mut a = 0; while let Some(b) = w.some(a + do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }) && a < 2 { w.log(b); a += 1; } w.log(9); n } }
fn async_47_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); for a in 0..(w.wait(w.beside(&w.noisy(1), n)).await?).min(2) { w.log(a); } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_47_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); for a in 0..(do! w.wait(w.beside(&w.noisy(1), n))).min(2) { w.log(a); } w.log(9); n } }
fn async_47_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); for a in 0..(w.noisy(1).wait(n).await?).min(2) { w.log(a); } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_47_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); for a in 0..(do! w.noisy(1).wait(n)).min(2) { w.log(a); } w.log(9); n } }
fn async_47_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); for a in 0..(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?).min(2) { w.log(a); } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_47_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); for a in 0..(do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n)))).min(2) { w.log(a); } w.log(9); n } }
fn async_47_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); for a in 0..(match w.noisy(1).number() { one => w.wait(one + n) }.await?).min(2) { w.log(a); } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_47_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); for a in 0..(do! match w.noisy(1).number() { one => w.wait(one + n) }).min(2) { w.log(a); } w.log(9); n } }
fn async_47_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); for a in 0..(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?).min(2) { w.log(a); } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_47_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); for a in 0..(do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }).min(2) { w.log(a); } w.log(9); n } }
fn async_48_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); for a in [w.wait(w.beside(&w.noisy(1), n)).await?, w.noisy(7).number()] { w.log(a); } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_48_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); for a in [do! w.wait(w.beside(&w.noisy(1), n)), w.noisy(7).number()] { w.log(a); } w.log(9); n } }
fn async_48_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); for a in [w.noisy(1).wait(n).await?, w.noisy(7).number()] { w.log(a); } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_48_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); for a in [do! w.noisy(1).wait(n), w.noisy(7).number()] { w.log(a); } w.log(9); n } }
fn async_48_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); for a in [w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?, w.noisy(7).number()] { w.log(a); } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_48_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); for a in [do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))), w.noisy(7).number()] { w.log(a); } w.log(9); n } }
fn async_48_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); for a in [match w.noisy(1).number() { one => w.wait(one + n) }.await?, w.noisy(7).number()] { w.log(a); } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_48_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); for a in [do! match w.noisy(1).number() { one => w.wait(one + n) }, w.noisy(7).number()] { w.log(a); } w.log(9); n } }
fn async_48_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); for a in [if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?, w.noisy(7).number()] { w.log(a); } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_48_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); for a in [do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }, w.noisy(7).number()] { w.log(a); } w.log(9); n } }
fn async_49_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); for a in 0..2 { if w.wait(w.beside(&w.noisy(1), n)).await? > a { continue } w.log(a); } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_49_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); for a in 0..2 { if do! w.wait(w.beside(&w.noisy(1), n)) > a { continue } w.log(a); } w.log(9); n } }
fn async_49_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); for a in 0..2 { if w.noisy(1).wait(n).await? > a { continue } w.log(a); } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_49_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); for a in 0..2 { if do! w.noisy(1).wait(n) > a { continue } w.log(a); } w.log(9); n } }
fn async_49_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); for a in 0..2 { if w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? > a { continue } w.log(a); } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_49_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); for a in 0..2 { if do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) > a { continue } w.log(a); } w.log(9); n } }
fn async_49_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); for a in 0..2 { if match w.noisy(1).number() { one => w.wait(one + n) }.await? > a { continue } w.log(a); } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_49_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); for a in 0..2 { if do! match w.noisy(1).number() { one => w.wait(one + n) } > a { continue } w.log(a); } w.log(9); n } }
fn async_49_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); for a in 0..2 { if if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? > a { continue } w.log(a); } w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_49_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); for a in 0..2 { if do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } > a { continue } w.log(a); } w.log(9); n } }
fn async_50_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if n == 1 { return Ok(w.wait(w.beside(&w.noisy(1), n)).await?) } w.log(7); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_50_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if n == 1 { return (do! w.wait(w.beside(&w.noisy(1), n))) } w.log(7); w.log(9); n } }
fn async_50_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if n == 1 { return Ok(w.noisy(1).wait(n).await?) } w.log(7); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_50_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if n == 1 { return (do! w.noisy(1).wait(n)) } w.log(7); w.log(9); n } }
fn async_50_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if n == 1 { return Ok(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?) } w.log(7); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_50_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if n == 1 { return (do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n)))) } w.log(7); w.log(9); n } }
fn async_50_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if n == 1 { return Ok(match w.noisy(1).number() { one => w.wait(one + n) }.await?) } w.log(7); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_50_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if n == 1 { return (do! match w.noisy(1).number() { one => w.wait(one + n) }) } w.log(7); w.log(9); n } }
fn async_50_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if n == 1 { return Ok(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?) } w.log(7); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_50_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if n == 1 { return (do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }) } w.log(7); w.log(9); n } }
fn async_51_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if n == 1 { return Ok(w.wait(w.beside(&w.noisy(1), n)).await? + w.noisy(7).number()) } w.log(7); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_51_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if n == 1 { return (do! w.wait(w.beside(&w.noisy(1), n)) + w.noisy(7).number()) } w.log(7); w.log(9); n } }
fn async_51_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if n == 1 { return Ok(w.noisy(1).wait(n).await? + w.noisy(7).number()) } w.log(7); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_51_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if n == 1 { return (do! w.noisy(1).wait(n) + w.noisy(7).number()) } w.log(7); w.log(9); n } }
fn async_51_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if n == 1 { return Ok(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? + w.noisy(7).number()) } w.log(7); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_51_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if n == 1 { return (do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) + w.noisy(7).number()) } w.log(7); w.log(9); n } }
fn async_51_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if n == 1 { return Ok(match w.noisy(1).number() { one => w.wait(one + n) }.await? + w.noisy(7).number()) } w.log(7); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_51_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if n == 1 { return (do! match w.noisy(1).number() { one => w.wait(one + n) } + w.noisy(7).number()) } w.log(7); w.log(9); n } }
fn async_51_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); if n == 1 { return Ok(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? + w.noisy(7).number()) } w.log(7); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_51_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); if n == 1 { return (do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } + w.noisy(7).number()) } w.log(7); w.log(9); n } }
fn async_52_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); assert!(w.wait(w.beside(&w.noisy(1), n)).await? < 100, "{}", w.noisy(7).number()); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_52_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); assert!(do! w.wait(w.beside(&w.noisy(1), n)) < 100, "{}", w.noisy(7).number()); w.log(9); n } }
fn async_52_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); assert!(w.noisy(1).wait(n).await? < 100, "{}", w.noisy(7).number()); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_52_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); assert!(do! w.noisy(1).wait(n) < 100, "{}", w.noisy(7).number()); w.log(9); n } }
fn async_52_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); assert!(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? < 100, "{}", w.noisy(7).number()); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_52_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); assert!(do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) < 100, "{}", w.noisy(7).number()); w.log(9); n } }
fn async_52_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); assert!(match w.noisy(1).number() { one => w.wait(one + n) }.await? < 100, "{}", w.noisy(7).number()); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_52_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); assert!(do! match w.noisy(1).number() { one => w.wait(one + n) } < 100, "{}", w.noisy(7).number()); w.log(9); n } }
fn async_52_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); assert!(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? < 100, "{}", w.noisy(7).number()); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_52_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); assert!(do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } < 100, "{}", w.noisy(7).number()); w.log(9); n } }
fn async_53_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); assert_eq!(w.wait(w.beside(&w.noisy(1), n)).await? - w.wait(w.beside(&w.noisy(1), n)).await?, w.noisy(7).number() - 7); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_53_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); assert_eq!(do! w.wait(w.beside(&w.noisy(1), n)) - do! w.wait(w.beside(&w.noisy(1), n)), w.noisy(7).number() - 7); w.log(9); n } }
fn async_53_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); assert_eq!(w.noisy(1).wait(n).await? - w.noisy(1).wait(n).await?, w.noisy(7).number() - 7); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_53_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); assert_eq!(do! w.noisy(1).wait(n) - do! w.noisy(1).wait(n), w.noisy(7).number() - 7); w.log(9); n } }
fn async_53_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); assert_eq!(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await? - w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?, w.noisy(7).number() - 7); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_53_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); assert_eq!(do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))) - do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))), w.noisy(7).number() - 7); w.log(9); n } }
fn async_53_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); assert_eq!(match w.noisy(1).number() { one => w.wait(one + n) }.await? - match w.noisy(1).number() { one => w.wait(one + n) }.await?, w.noisy(7).number() - 7); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_53_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); assert_eq!(do! match w.noisy(1).number() { one => w.wait(one + n) } - do! match w.noisy(1).number() { one => w.wait(one + n) }, w.noisy(7).number() - 7); w.log(9); n } }
fn async_53_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); assert_eq!(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await? - if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?, w.noisy(7).number() - 7); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_53_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); assert_eq!(do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) } - do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }, w.noisy(7).number() - 7); w.log(9); n } }
fn async_54_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(format!("{}{}", w.wait(w.beside(&w.noisy(1), n)).await?, w.noisy(7).number()).len() as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_54_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(format!("{}{}", do! w.wait(w.beside(&w.noisy(1), n)), w.noisy(7).number()).len() as i64); w.log(9); n } }
fn async_54_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(format!("{}{}", w.noisy(1).wait(n).await?, w.noisy(7).number()).len() as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_54_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(format!("{}{}", do! w.noisy(1).wait(n), w.noisy(7).number()).len() as i64); w.log(9); n } }
fn async_54_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(format!("{}{}", w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?, w.noisy(7).number()).len() as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_54_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(format!("{}{}", do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))), w.noisy(7).number()).len() as i64); w.log(9); n } }
fn async_54_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(format!("{}{}", match w.noisy(1).number() { one => w.wait(one + n) }.await?, w.noisy(7).number()).len() as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_54_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(format!("{}{}", do! match w.noisy(1).number() { one => w.wait(one + n) }, w.noisy(7).number()).len() as i64); w.log(9); n } }
fn async_54_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(format!("{}{}", if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?, w.noisy(7).number()).len() as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_54_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(format!("{}{}", do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }, w.noisy(7).number()).len() as i64); w.log(9); n } }
fn async_55_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(vec![w.noisy(7).number(), w.wait(w.beside(&w.noisy(1), n)).await?, w.wait(w.beside(&w.noisy(1), n)).await?].len() as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_55_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(vec![w.noisy(7).number(), do! w.wait(w.beside(&w.noisy(1), n)), do! w.wait(w.beside(&w.noisy(1), n))].len() as i64); w.log(9); n } }
fn async_55_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(vec![w.noisy(7).number(), w.noisy(1).wait(n).await?, w.noisy(1).wait(n).await?].len() as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_55_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(vec![w.noisy(7).number(), do! w.noisy(1).wait(n), do! w.noisy(1).wait(n)].len() as i64); w.log(9); n } }
fn async_55_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(vec![w.noisy(7).number(), w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?, w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?].len() as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_55_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(vec![w.noisy(7).number(), do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))), do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n)))].len() as i64); w.log(9); n } }
fn async_55_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(vec![w.noisy(7).number(), match w.noisy(1).number() { one => w.wait(one + n) }.await?, match w.noisy(1).number() { one => w.wait(one + n) }.await?].len() as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_55_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(vec![w.noisy(7).number(), do! match w.noisy(1).number() { one => w.wait(one + n) }, do! match w.noisy(1).number() { one => w.wait(one + n) }].len() as i64); w.log(9); n } }
fn async_55_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(vec![w.noisy(7).number(), if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?, if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?].len() as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_55_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(vec![w.noisy(7).number(), do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }, do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }].len() as i64); w.log(9); n } }
fn async_56_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(matches!(w.wait(w.beside(&w.noisy(1), n)).await?, a if a < w.wait(w.beside(&w.noisy(1), n)).await?) as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_56_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(matches!(do! w.wait(w.beside(&w.noisy(1), n)), a if a < do! w.wait(w.beside(&w.noisy(1), n))) as i64); w.log(9); n } }
fn async_56_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(matches!(w.noisy(1).wait(n).await?, a if a < w.noisy(1).wait(n).await?) as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_56_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(matches!(do! w.noisy(1).wait(n), a if a < do! w.noisy(1).wait(n)) as i64); w.log(9); n } }
fn async_56_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(matches!(w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?, a if a < w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?) as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_56_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(matches!(do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))), a if a < do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n)))) as i64); w.log(9); n } }
fn async_56_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(matches!(match w.noisy(1).number() { one => w.wait(one + n) }.await?, a if a < match w.noisy(1).number() { one => w.wait(one + n) }.await?) as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_56_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(matches!(do! match w.noisy(1).number() { one => w.wait(one + n) }, a if a < do! match w.noisy(1).number() { one => w.wait(one + n) }) as i64); w.log(9); n } }
fn async_56_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); w.log(matches!(if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?, a if a < if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?) as i64); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_56_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); w.log(matches!(do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }, a if a < do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }) as i64); w.log(9); n } }
fn async_57_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); drop((w.noisy(7), w.wait(w.beside(&w.noisy(1), n)).await?)); w.log(8); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_57_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); drop((w.noisy(7), do! w.wait(w.beside(&w.noisy(1), n)))); w.log(8); w.log(9); n } }
fn async_57_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); drop((w.noisy(7), w.noisy(1).wait(n).await?)); w.log(8); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_57_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); drop((w.noisy(7), do! w.noisy(1).wait(n))); w.log(8); w.log(9); n } }
fn async_57_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); drop((w.noisy(7), w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?)); w.log(8); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_57_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); drop((w.noisy(7), do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))))); w.log(8); w.log(9); n } }
fn async_57_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); drop((w.noisy(7), match w.noisy(1).number() { one => w.wait(one + n) }.await?)); w.log(8); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_57_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); drop((w.noisy(7), do! match w.noisy(1).number() { one => w.wait(one + n) })); w.log(8); w.log(9); n } }
fn async_57_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); drop((w.noisy(7), if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?)); w.log(8); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_57_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); drop((w.noisy(7), do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) })); w.log(8); w.log(9); n } }
fn async_58_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let _ = (w.noisy(7), w.wait(w.beside(&w.noisy(1), n)).await?); w.log(8); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_58_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let _ = (w.noisy(7), do! w.wait(w.beside(&w.noisy(1), n))); w.log(8); w.log(9); n } }
fn async_58_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let _ = (w.noisy(7), w.noisy(1).wait(n).await?); w.log(8); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_58_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let _ = (w.noisy(7), do! w.noisy(1).wait(n)); w.log(8); w.log(9); n } }
fn async_58_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let _ = (w.noisy(7), w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?); w.log(8); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_58_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let _ = (w.noisy(7), do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n)))); w.log(8); w.log(9); n } }
fn async_58_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let _ = (w.noisy(7), match w.noisy(1).number() { one => w.wait(one + n) }.await?); w.log(8); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_58_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let _ = (w.noisy(7), do! match w.noisy(1).number() { one => w.wait(one + n) }); w.log(8); w.log(9); n } }
fn async_58_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let _ = (w.noisy(7), if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }.await?); w.log(8); w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_58_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let _ = (w.noisy(7), do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }); w.log(8); w.log(9); n } }
fn async_59_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let _a = w.noisy(7); let _b = { let fiber = w.wait(w.beside(&w.noisy(1), n)); fiber }.await?; w.log(8); { let fiber = w.wait(w.beside(&w.noisy(1), n)); fiber }.await?; w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_59_0(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let _a = w.noisy(7); let _b = do! w.wait(w.beside(&w.noisy(1), n)); w.log(8); do! w.wait(w.beside(&w.noisy(1), n)); w.log(9); n } }
fn async_59_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let _a = w.noisy(7); let _b = { let fiber = w.noisy(1).wait(n); fiber }.await?; w.log(8); { let fiber = w.noisy(1).wait(n); fiber }.await?; w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_59_1(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let _a = w.noisy(7); let _b = do! w.noisy(1).wait(n); w.log(8); do! w.noisy(1).wait(n); w.log(9); n } }
fn async_59_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let _a = w.noisy(7); let _b = { let fiber = w.wait(w.beside(&w.noisy(1), w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?)); fiber }.await?; w.log(8); { let fiber = w.wait(w.beside(&w.noisy(1), w.wait(w.beside(&w.noisy(1), w.noisy(5).wait(n).await?)).await?)); fiber }.await?; w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_59_2(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let _a = w.noisy(7); let _b = do! w.wait(w.beside(&w.noisy(1), do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))))); w.log(8); do! w.wait(w.beside(&w.noisy(1), do! w.wait(w.beside(&w.noisy(1), do! w.noisy(5).wait(n))))); w.log(9); n } }
fn async_59_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let _a = w.noisy(7); let _b = { let fiber = match w.noisy(1).number() { one => w.wait(one + n) }; fiber }.await?; w.log(8); { let fiber = match w.noisy(1).number() { one => w.wait(one + n) }; fiber }.await?; w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_59_3(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let _a = w.noisy(7); let _b = do! match w.noisy(1).number() { one => w.wait(one + n) }; w.log(8); do! match w.noisy(1).number() { one => w.wait(one + n) }; w.log(9); n } }
fn async_59_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); Fiber::from_future(async move { w.log(0); let _a = w.noisy(7); let _b = { let fiber = if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }; fiber }.await?; w.log(8); { let fiber = if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }; fiber }.await?; w.log(9); Ok::<i64, Error>(n) }).boxed() }
fn fiber_59_4(w: &Async, n: i64) -> Fiber<i64> { let w = w.clone(); fiber! { w.log(0); let _a = w.noisy(7); let _b = do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }; w.log(8); do! if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }; w.log(9); n } }
type InPlace = (&'static str, &'static str, fn(&Async, i64) -> Fiber<i64>, fn(&Async, i64) -> Fiber<i64>);
pub(crate) const MATRIX: [InPlace; 300] = [("@;", "w.wait(w.beside(&w.noisy(1), n))", async_0_0, fiber_0_0),
("@;", "w.noisy(1).wait(n)", async_0_1, fiber_0_1),
("@;", "w.wait(w.beside(&w.noisy(1), #))", async_0_2, fiber_0_2),
("@;", "match w.noisy(1).number() { one => w.wait(one + n) }", async_0_3, fiber_0_3),
("@;", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_0_4, fiber_0_4),
("let a = @; w.log(a);", "w.wait(w.beside(&w.noisy(1), n))", async_1_0, fiber_1_0),
("let a = @; w.log(a);", "w.noisy(1).wait(n)", async_1_1, fiber_1_1),
("let a = @; w.log(a);", "w.wait(w.beside(&w.noisy(1), #))", async_1_2, fiber_1_2),
("let a = @; w.log(a);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_1_3, fiber_1_3),
("let a = @; w.log(a);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_1_4, fiber_1_4),
("let (a, _) = (#, w.noisy(7)); w.log(a);", "w.wait(w.beside(&w.noisy(1), n))", async_2_0, fiber_2_0),
("let (a, _) = (#, w.noisy(7)); w.log(a);", "w.noisy(1).wait(n)", async_2_1, fiber_2_1),
("let (a, _) = (#, w.noisy(7)); w.log(a);", "w.wait(w.beside(&w.noisy(1), #))", async_2_2, fiber_2_2),
("let (a, _) = (#, w.noisy(7)); w.log(a);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_2_3, fiber_2_3),
("let (a, _) = (#, w.noisy(7)); w.log(a);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_2_4, fiber_2_4),
("let Some(a) = w.some(#) else { w.log(70); return ok(7) }; w.log(a);", "w.wait(w.beside(&w.noisy(1), n))", async_3_0, fiber_3_0),
("let Some(a) = w.some(#) else { w.log(70); return ok(7) }; w.log(a);", "w.noisy(1).wait(n)", async_3_1, fiber_3_1),
("let Some(a) = w.some(#) else { w.log(70); return ok(7) }; w.log(a);", "w.wait(w.beside(&w.noisy(1), #))", async_3_2, fiber_3_2),
("let Some(a) = w.some(#) else { w.log(70); return ok(7) }; w.log(a);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_3_3, fiber_3_3),
("let Some(a) = w.some(#) else { w.log(70); return ok(7) }; w.log(a);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_3_4, fiber_3_4),
("let a = { @ } + w.noisy(7).number(); w.log(a);", "w.wait(w.beside(&w.noisy(1), n))", async_4_0, fiber_4_0),
("let a = { @ } + w.noisy(7).number(); w.log(a);", "w.noisy(1).wait(n)", async_4_1, fiber_4_1),
("let a = { @ } + w.noisy(7).number(); w.log(a);", "w.wait(w.beside(&w.noisy(1), #))", async_4_2, fiber_4_2),
("let a = { @ } + w.noisy(7).number(); w.log(a);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_4_3, fiber_4_3),
("let a = { @ } + w.noisy(7).number(); w.log(a);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_4_4, fiber_4_4),
("let a = { w.log(7); # + w.noisy(7).number() }; w.log(a);", "w.wait(w.beside(&w.noisy(1), n))", async_5_0, fiber_5_0),
("let a = { w.log(7); # + w.noisy(7).number() }; w.log(a);", "w.noisy(1).wait(n)", async_5_1, fiber_5_1),
("let a = { w.log(7); # + w.noisy(7).number() }; w.log(a);", "w.wait(w.beside(&w.noisy(1), #))", async_5_2, fiber_5_2),
("let a = { w.log(7); # + w.noisy(7).number() }; w.log(a);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_5_3, fiber_5_3),
("let a = { w.log(7); # + w.noisy(7).number() }; w.log(a);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_5_4, fiber_5_4),
("let a = &#; w.log(*a);", "w.wait(w.beside(&w.noisy(1), n))", async_6_0, fiber_6_0),
("let a = &#; w.log(*a);", "w.noisy(1).wait(n)", async_6_1, fiber_6_1),
("let a = &#; w.log(*a);", "w.wait(w.beside(&w.noisy(1), #))", async_6_2, fiber_6_2),
("let a = &#; w.log(*a);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_6_3, fiber_6_3),
("let a = &#; w.log(*a);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_6_4, fiber_6_4),
("let a = &(#, w.noisy(7).number()); w.log(a.0);", "w.wait(w.beside(&w.noisy(1), n))", async_7_0, fiber_7_0),
("let a = &(#, w.noisy(7).number()); w.log(a.0);", "w.noisy(1).wait(n)", async_7_1, fiber_7_1),
("let a = &(#, w.noisy(7).number()); w.log(a.0);", "w.wait(w.beside(&w.noisy(1), #))", async_7_2, fiber_7_2),
("let a = &(#, w.noisy(7).number()); w.log(a.0);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_7_3, fiber_7_3),
("let a = &(#, w.noisy(7).number()); w.log(a.0);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_7_4, fiber_7_4),
("let a = if n > 1 { @ } else { # + w.noisy(7).number() }; w.log(a);", "w.wait(w.beside(&w.noisy(1), n))", async_8_0, fiber_8_0),
("let a = if n > 1 { @ } else { # + w.noisy(7).number() }; w.log(a);", "w.noisy(1).wait(n)", async_8_1, fiber_8_1),
("let a = if n > 1 { @ } else { # + w.noisy(7).number() }; w.log(a);", "w.wait(w.beside(&w.noisy(1), #))", async_8_2, fiber_8_2),
("let a = if n > 1 { @ } else { # + w.noisy(7).number() }; w.log(a);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_8_3, fiber_8_3),
("let a = if n > 1 { @ } else { # + w.noisy(7).number() }; w.log(a);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_8_4, fiber_8_4),
("let a = match n { 0 => @, 1 => # + w.noisy(7).number(), _ => { @ } }; w.log(a);", "w.wait(w.beside(&w.noisy(1), n))", async_9_0, fiber_9_0),
("let a = match n { 0 => @, 1 => # + w.noisy(7).number(), _ => { @ } }; w.log(a);", "w.noisy(1).wait(n)", async_9_1, fiber_9_1),
("let a = match n { 0 => @, 1 => # + w.noisy(7).number(), _ => { @ } }; w.log(a);", "w.wait(w.beside(&w.noisy(1), #))", async_9_2, fiber_9_2),
("let a = match n { 0 => @, 1 => # + w.noisy(7).number(), _ => { @ } }; w.log(a);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_9_3, fiber_9_3),
("let a = match n { 0 => @, 1 => # + w.noisy(7).number(), _ => { @ } }; w.log(a);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_9_4, fiber_9_4),
("let a = 'a: { if # > 3 { break 'a # + w.noisy(7).number() } 0 }; w.log(a);", "w.wait(w.beside(&w.noisy(1), n))", async_10_0, fiber_10_0),
("let a = 'a: { if # > 3 { break 'a # + w.noisy(7).number() } 0 }; w.log(a);", "w.noisy(1).wait(n)", async_10_1, fiber_10_1),
("let a = 'a: { if # > 3 { break 'a # + w.noisy(7).number() } 0 }; w.log(a);", "w.wait(w.beside(&w.noisy(1), #))", async_10_2, fiber_10_2),
("let a = 'a: { if # > 3 { break 'a # + w.noisy(7).number() } 0 }; w.log(a);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_10_3, fiber_10_3),
("let a = 'a: { if # > 3 { break 'a # + w.noisy(7).number() } 0 }; w.log(a);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_10_4, fiber_10_4),
("let a = loop { break #; }; w.log(a);", "w.wait(w.beside(&w.noisy(1), n))", async_11_0, fiber_11_0),
("let a = loop { break #; }; w.log(a);", "w.noisy(1).wait(n)", async_11_1, fiber_11_1),
("let a = loop { break #; }; w.log(a);", "w.wait(w.beside(&w.noisy(1), #))", async_11_2, fiber_11_2),
("let a = loop { break #; }; w.log(a);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_11_3, fiber_11_3),
("let a = loop { break #; }; w.log(a);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_11_4, fiber_11_4),
("let mut a = 0; a = #; w.log(a);", "w.wait(w.beside(&w.noisy(1), n))", async_12_0, fiber_12_0),
("let mut a = 0; a = #; w.log(a);", "w.noisy(1).wait(n)", async_12_1, fiber_12_1),
("let mut a = 0; a = #; w.log(a);", "w.wait(w.beside(&w.noisy(1), #))", async_12_2, fiber_12_2),
("let mut a = 0; a = #; w.log(a);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_12_3, fiber_12_3),
("let mut a = 0; a = #; w.log(a);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_12_4, fiber_12_4),
("let mut a = [0]; a[w.noisy(7).number() as usize - 7] += #; w.log(a[0]);", "w.wait(w.beside(&w.noisy(1), n))", async_13_0, fiber_13_0),
("let mut a = [0]; a[w.noisy(7).number() as usize - 7] += #; w.log(a[0]);", "w.noisy(1).wait(n)", async_13_1, fiber_13_1),
("let mut a = [0]; a[w.noisy(7).number() as usize - 7] += #; w.log(a[0]);", "w.wait(w.beside(&w.noisy(1), #))", async_13_2, fiber_13_2),
("let mut a = [0]; a[w.noisy(7).number() as usize - 7] += #; w.log(a[0]);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_13_3, fiber_13_3),
("let mut a = [0]; a[w.noisy(7).number() as usize - 7] += #; w.log(a[0]);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_13_4, fiber_13_4),
("let mut a = [0]; *(&mut a[0]) -= # * w.noisy(7).number(); w.log(a[0]);", "w.wait(w.beside(&w.noisy(1), n))", async_14_0, fiber_14_0),
("let mut a = [0]; *(&mut a[0]) -= # * w.noisy(7).number(); w.log(a[0]);", "w.noisy(1).wait(n)", async_14_1, fiber_14_1),
("let mut a = [0]; *(&mut a[0]) -= # * w.noisy(7).number(); w.log(a[0]);", "w.wait(w.beside(&w.noisy(1), #))", async_14_2, fiber_14_2),
("let mut a = [0]; *(&mut a[0]) -= # * w.noisy(7).number(); w.log(a[0]);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_14_3, fiber_14_3),
("let mut a = [0]; *(&mut a[0]) -= # * w.noisy(7).number(); w.log(a[0]);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_14_4, fiber_14_4),
("w.log(#);", "w.wait(w.beside(&w.noisy(1), n))", async_15_0, fiber_15_0),
("w.log(#);", "w.noisy(1).wait(n)", async_15_1, fiber_15_1),
("w.log(#);", "w.wait(w.beside(&w.noisy(1), #))", async_15_2, fiber_15_2),
("w.log(#);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_15_3, fiber_15_3),
("w.log(#);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_15_4, fiber_15_4),
("w.log(-#);", "w.wait(w.beside(&w.noisy(1), n))", async_16_0, fiber_16_0),
("w.log(-#);", "w.noisy(1).wait(n)", async_16_1, fiber_16_1),
("w.log(-#);", "w.wait(w.beside(&w.noisy(1), #))", async_16_2, fiber_16_2),
("w.log(-#);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_16_3, fiber_16_3),
("w.log(-#);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_16_4, fiber_16_4),
("w.log(# as i8 as i64);", "w.wait(w.beside(&w.noisy(1), n))", async_17_0, fiber_17_0),
("w.log(# as i8 as i64);", "w.noisy(1).wait(n)", async_17_1, fiber_17_1),
("w.log(# as i8 as i64);", "w.wait(w.beside(&w.noisy(1), #))", async_17_2, fiber_17_2),
("w.log(# as i8 as i64);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_17_3, fiber_17_3),
("w.log(# as i8 as i64);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_17_4, fiber_17_4),
("w.log(w.pair(w.noisy(7).number(), #));", "w.wait(w.beside(&w.noisy(1), n))", async_18_0, fiber_18_0),
("w.log(w.pair(w.noisy(7).number(), #));", "w.noisy(1).wait(n)", async_18_1, fiber_18_1),
("w.log(w.pair(w.noisy(7).number(), #));", "w.wait(w.beside(&w.noisy(1), #))", async_18_2, fiber_18_2),
("w.log(w.pair(w.noisy(7).number(), #));", "match w.noisy(1).number() { one => w.wait(one + n) }", async_18_3, fiber_18_3),
("w.log(w.pair(w.noisy(7).number(), #));", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_18_4, fiber_18_4),
("w.log(w.pair(#, w.noisy(7).number()));", "w.wait(w.beside(&w.noisy(1), n))", async_19_0, fiber_19_0),
("w.log(w.pair(#, w.noisy(7).number()));", "w.noisy(1).wait(n)", async_19_1, fiber_19_1),
("w.log(w.pair(#, w.noisy(7).number()));", "w.wait(w.beside(&w.noisy(1), #))", async_19_2, fiber_19_2),
("w.log(w.pair(#, w.noisy(7).number()));", "match w.noisy(1).number() { one => w.wait(one + n) }", async_19_3, fiber_19_3),
("w.log(w.pair(#, w.noisy(7).number()));", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_19_4, fiber_19_4),
("w.log(w.pair(#, #));", "w.wait(w.beside(&w.noisy(1), n))", async_20_0, fiber_20_0),
("w.log(w.pair(#, #));", "w.noisy(1).wait(n)", async_20_1, fiber_20_1),
("w.log(w.pair(#, #));", "w.wait(w.beside(&w.noisy(1), #))", async_20_2, fiber_20_2),
("w.log(w.pair(#, #));", "match w.noisy(1).number() { one => w.wait(one + n) }", async_20_3, fiber_20_3),
("w.log(w.pair(#, #));", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_20_4, fiber_20_4),
("w.log((#).wrapping_add(w.noisy(7).number()));", "w.wait(w.beside(&w.noisy(1), n))", async_21_0, fiber_21_0),
("w.log((#).wrapping_add(w.noisy(7).number()));", "w.noisy(1).wait(n)", async_21_1, fiber_21_1),
("w.log((#).wrapping_add(w.noisy(7).number()));", "w.wait(w.beside(&w.noisy(1), #))", async_21_2, fiber_21_2),
("w.log((#).wrapping_add(w.noisy(7).number()));", "match w.noisy(1).number() { one => w.wait(one + n) }", async_21_3, fiber_21_3),
("w.log((#).wrapping_add(w.noisy(7).number()));", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_21_4, fiber_21_4),
("w.log(w.noisy(7).number().wrapping_add(#));", "w.wait(w.beside(&w.noisy(1), n))", async_22_0, fiber_22_0),
("w.log(w.noisy(7).number().wrapping_add(#));", "w.noisy(1).wait(n)", async_22_1, fiber_22_1),
("w.log(w.noisy(7).number().wrapping_add(#));", "w.wait(w.beside(&w.noisy(1), #))", async_22_2, fiber_22_2),
("w.log(w.noisy(7).number().wrapping_add(#));", "match w.noisy(1).number() { one => w.wait(one + n) }", async_22_3, fiber_22_3),
("w.log(w.noisy(7).number().wrapping_add(#));", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_22_4, fiber_22_4),
("w.log(w.noisy(7).number() + # * w.noisy(8).number());", "w.wait(w.beside(&w.noisy(1), n))", async_23_0, fiber_23_0),
("w.log(w.noisy(7).number() + # * w.noisy(8).number());", "w.noisy(1).wait(n)", async_23_1, fiber_23_1),
("w.log(w.noisy(7).number() + # * w.noisy(8).number());", "w.wait(w.beside(&w.noisy(1), #))", async_23_2, fiber_23_2),
("w.log(w.noisy(7).number() + # * w.noisy(8).number());", "match w.noisy(1).number() { one => w.wait(one + n) }", async_23_3, fiber_23_3),
("w.log(w.noisy(7).number() + # * w.noisy(8).number());", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_23_4, fiber_23_4),
("w.log([4, 5, 6][# as usize % 3]);", "w.wait(w.beside(&w.noisy(1), n))", async_24_0, fiber_24_0),
("w.log([4, 5, 6][# as usize % 3]);", "w.noisy(1).wait(n)", async_24_1, fiber_24_1),
("w.log([4, 5, 6][# as usize % 3]);", "w.wait(w.beside(&w.noisy(1), #))", async_24_2, fiber_24_2),
("w.log([4, 5, 6][# as usize % 3]);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_24_3, fiber_24_3),
("w.log([4, 5, 6][# as usize % 3]);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_24_4, fiber_24_4),
("w.log([#, w.noisy(7).number()][1]);", "w.wait(w.beside(&w.noisy(1), n))", async_25_0, fiber_25_0),
("w.log([#, w.noisy(7).number()][1]);", "w.noisy(1).wait(n)", async_25_1, fiber_25_1),
("w.log([#, w.noisy(7).number()][1]);", "w.wait(w.beside(&w.noisy(1), #))", async_25_2, fiber_25_2),
("w.log([#, w.noisy(7).number()][1]);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_25_3, fiber_25_3),
("w.log([#, w.noisy(7).number()][1]);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_25_4, fiber_25_4),
("w.log([#; 2][1]);", "w.wait(w.beside(&w.noisy(1), n))", async_26_0, fiber_26_0),
("w.log([#; 2][1]);", "w.noisy(1).wait(n)", async_26_1, fiber_26_1),
("w.log([#; 2][1]);", "w.wait(w.beside(&w.noisy(1), #))", async_26_2, fiber_26_2),
("w.log([#; 2][1]);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_26_3, fiber_26_3),
("w.log([#; 2][1]);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_26_4, fiber_26_4),
("w.log((#, w.noisy(7)).0);", "w.wait(w.beside(&w.noisy(1), n))", async_27_0, fiber_27_0),
("w.log((#, w.noisy(7)).0);", "w.noisy(1).wait(n)", async_27_1, fiber_27_1),
("w.log((#, w.noisy(7)).0);", "w.wait(w.beside(&w.noisy(1), #))", async_27_2, fiber_27_2),
("w.log((#, w.noisy(7)).0);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_27_3, fiber_27_3),
("w.log((#, w.noisy(7)).0);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_27_4, fiber_27_4),
("w.log(Pair { b: w.noisy(7).number(), a: # }.a);", "w.wait(w.beside(&w.noisy(1), n))", async_28_0, fiber_28_0),
("w.log(Pair { b: w.noisy(7).number(), a: # }.a);", "w.noisy(1).wait(n)", async_28_1, fiber_28_1),
("w.log(Pair { b: w.noisy(7).number(), a: # }.a);", "w.wait(w.beside(&w.noisy(1), #))", async_28_2, fiber_28_2),
("w.log(Pair { b: w.noisy(7).number(), a: # }.a);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_28_3, fiber_28_3),
("w.log(Pair { b: w.noisy(7).number(), a: # }.a);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_28_4, fiber_28_4),
("w.log(Pair { a: w.noisy(7).number(), ..Pair { a: 1, b: # } }.b);", "w.wait(w.beside(&w.noisy(1), n))", async_29_0, fiber_29_0),
("w.log(Pair { a: w.noisy(7).number(), ..Pair { a: 1, b: # } }.b);", "w.noisy(1).wait(n)", async_29_1, fiber_29_1),
("w.log(Pair { a: w.noisy(7).number(), ..Pair { a: 1, b: # } }.b);", "w.wait(w.beside(&w.noisy(1), #))", async_29_2, fiber_29_2),
("w.log(Pair { a: w.noisy(7).number(), ..Pair { a: 1, b: # } }.b);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_29_3, fiber_29_3),
("w.log(Pair { a: w.noisy(7).number(), ..Pair { a: 1, b: # } }.b);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_29_4, fiber_29_4),
("w.log((|v: i64| v + 1)(#));", "w.wait(w.beside(&w.noisy(1), n))", async_30_0, fiber_30_0),
("w.log((|v: i64| v + 1)(#));", "w.noisy(1).wait(n)", async_30_1, fiber_30_1),
("w.log((|v: i64| v + 1)(#));", "w.wait(w.beside(&w.noisy(1), #))", async_30_2, fiber_30_2),
("w.log((|v: i64| v + 1)(#));", "match w.noisy(1).number() { one => w.wait(one + n) }", async_30_3, fiber_30_3),
("w.log((|v: i64| v + 1)(#));", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_30_4, fiber_30_4),
("w.log(w.beside(&w.noisy(7), #)); w.log(8);", "w.wait(w.beside(&w.noisy(1), n))", async_31_0, fiber_31_0),
("w.log(w.beside(&w.noisy(7), #)); w.log(8);", "w.noisy(1).wait(n)", async_31_1, fiber_31_1),
("w.log(w.beside(&w.noisy(7), #)); w.log(8);", "w.wait(w.beside(&w.noisy(1), #))", async_31_2, fiber_31_2),
("w.log(w.beside(&w.noisy(7), #)); w.log(8);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_31_3, fiber_31_3),
("w.log(w.beside(&w.noisy(7), #)); w.log(8);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_31_4, fiber_31_4),
("if # > 2 { w.log(6) } else { w.log(7) }", "w.wait(w.beside(&w.noisy(1), n))", async_32_0, fiber_32_0),
("if # > 2 { w.log(6) } else { w.log(7) }", "w.noisy(1).wait(n)", async_32_1, fiber_32_1),
("if # > 2 { w.log(6) } else { w.log(7) }", "w.wait(w.beside(&w.noisy(1), #))", async_32_2, fiber_32_2),
("if # > 2 { w.log(6) } else { w.log(7) }", "match w.noisy(1).number() { one => w.wait(one + n) }", async_32_3, fiber_32_3),
("if # > 2 { w.log(6) } else { w.log(7) }", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_32_4, fiber_32_4),
("if # < w.noisy(7).number() { w.log(6) } else if # > 2 { w.log(8) }", "w.wait(w.beside(&w.noisy(1), n))", async_33_0, fiber_33_0),
("if # < w.noisy(7).number() { w.log(6) } else if # > 2 { w.log(8) }", "w.noisy(1).wait(n)", async_33_1, fiber_33_1),
("if # < w.noisy(7).number() { w.log(6) } else if # > 2 { w.log(8) }", "w.wait(w.beside(&w.noisy(1), #))", async_33_2, fiber_33_2),
("if # < w.noisy(7).number() { w.log(6) } else if # > 2 { w.log(8) }", "match w.noisy(1).number() { one => w.wait(one + n) }", async_33_3, fiber_33_3),
("if # < w.noisy(7).number() { w.log(6) } else if # > 2 { w.log(8) }", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_33_4, fiber_33_4),
("if w.flag(#) && # < 7 { w.log(6) } else { w.log(7) }", "w.wait(w.beside(&w.noisy(1), n))", async_34_0, fiber_34_0),
("if w.flag(#) && # < 7 { w.log(6) } else { w.log(7) }", "w.noisy(1).wait(n)", async_34_1, fiber_34_1),
("if w.flag(#) && # < 7 { w.log(6) } else { w.log(7) }", "w.wait(w.beside(&w.noisy(1), #))", async_34_2, fiber_34_2),
("if w.flag(#) && # < 7 { w.log(6) } else { w.log(7) }", "match w.noisy(1).number() { one => w.wait(one + n) }", async_34_3, fiber_34_3),
("if w.flag(#) && # < 7 { w.log(6) } else { w.log(7) }", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_34_4, fiber_34_4),
("if w.flag(#) || # < w.noisy(7).number() { w.log(6) } else { w.log(7) }", "w.wait(w.beside(&w.noisy(1), n))", async_35_0, fiber_35_0),
("if w.flag(#) || # < w.noisy(7).number() { w.log(6) } else { w.log(7) }", "w.noisy(1).wait(n)", async_35_1, fiber_35_1),
("if w.flag(#) || # < w.noisy(7).number() { w.log(6) } else { w.log(7) }", "w.wait(w.beside(&w.noisy(1), #))", async_35_2, fiber_35_2),
("if w.flag(#) || # < w.noisy(7).number() { w.log(6) } else { w.log(7) }", "match w.noisy(1).number() { one => w.wait(one + n) }", async_35_3, fiber_35_3),
("if w.flag(#) || # < w.noisy(7).number() { w.log(6) } else { w.log(7) }", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_35_4, fiber_35_4),
("if !w.flag(#) { w.log(6) }", "w.wait(w.beside(&w.noisy(1), n))", async_36_0, fiber_36_0),
("if !w.flag(#) { w.log(6) }", "w.noisy(1).wait(n)", async_36_1, fiber_36_1),
("if !w.flag(#) { w.log(6) }", "w.wait(w.beside(&w.noisy(1), #))", async_36_2, fiber_36_2),
("if !w.flag(#) { w.log(6) }", "match w.noisy(1).number() { one => w.wait(one + n) }", async_36_3, fiber_36_3),
("if !w.flag(#) { w.log(6) }", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_36_4, fiber_36_4),
("w.log((# > 2 && # < w.noisy(7).number() || # == 7) as i64);", "w.wait(w.beside(&w.noisy(1), n))", async_37_0, fiber_37_0),
("w.log((# > 2 && # < w.noisy(7).number() || # == 7) as i64);", "w.noisy(1).wait(n)", async_37_1, fiber_37_1),
("w.log((# > 2 && # < w.noisy(7).number() || # == 7) as i64);", "w.wait(w.beside(&w.noisy(1), #))", async_37_2, fiber_37_2),
("w.log((# > 2 && # < w.noisy(7).number() || # == 7) as i64);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_37_3, fiber_37_3),
("w.log((# > 2 && # < w.noisy(7).number() || # == 7) as i64);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_37_4, fiber_37_4),
("if let Some(a) = w.some(#) { w.log(a) } else { w.log(7) }", "w.wait(w.beside(&w.noisy(1), n))", async_38_0, fiber_38_0),
("if let Some(a) = w.some(#) { w.log(a) } else { w.log(7) }", "w.noisy(1).wait(n)", async_38_1, fiber_38_1),
("if let Some(a) = w.some(#) { w.log(a) } else { w.log(7) }", "w.wait(w.beside(&w.noisy(1), #))", async_38_2, fiber_38_2),
("if let Some(a) = w.some(#) { w.log(a) } else { w.log(7) }", "match w.noisy(1).number() { one => w.wait(one + n) }", async_38_3, fiber_38_3),
("if let Some(a) = w.some(#) { w.log(a) } else { w.log(7) }", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_38_4, fiber_38_4),
("if let 2.. = # { w.log(6) } else { w.log(7) }", "w.wait(w.beside(&w.noisy(1), n))", async_39_0, fiber_39_0),
("if let 2.. = # { w.log(6) } else { w.log(7) }", "w.noisy(1).wait(n)", async_39_1, fiber_39_1),
("if let 2.. = # { w.log(6) } else { w.log(7) }", "w.wait(w.beside(&w.noisy(1), #))", async_39_2, fiber_39_2),
("if let 2.. = # { w.log(6) } else { w.log(7) }", "match w.noisy(1).number() { one => w.wait(one + n) }", async_39_3, fiber_39_3),
("if let 2.. = # { w.log(6) } else { w.log(7) }", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_39_4, fiber_39_4),
("if let Some(a) = w.some(#) && a < # && let Some(b) = w.some(a + #) { w.log(b) } else { w.log(7) }", "w.wait(w.beside(&w.noisy(1), n))", async_40_0, fiber_40_0),
("if let Some(a) = w.some(#) && a < # && let Some(b) = w.some(a + #) { w.log(b) } else { w.log(7) }", "w.noisy(1).wait(n)", async_40_1, fiber_40_1),
("if let Some(a) = w.some(#) && a < # && let Some(b) = w.some(a + #) { w.log(b) } else { w.log(7) }", "w.wait(w.beside(&w.noisy(1), #))", async_40_2, fiber_40_2),
("if let Some(a) = w.some(#) && a < # && let Some(b) = w.some(a + #) { w.log(b) } else { w.log(7) }", "match w.noisy(1).number() { one => w.wait(one + n) }", async_40_3, fiber_40_3),
("if let Some(a) = w.some(#) && a < # && let Some(b) = w.some(a + #) { w.log(b) } else { w.log(7) }", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_40_4, fiber_40_4),
("match # { 1 | 2 => w.log(6), a => w.log(a) }", "w.wait(w.beside(&w.noisy(1), n))", async_41_0, fiber_41_0),
("match # { 1 | 2 => w.log(6), a => w.log(a) }", "w.noisy(1).wait(n)", async_41_1, fiber_41_1),
("match # { 1 | 2 => w.log(6), a => w.log(a) }", "w.wait(w.beside(&w.noisy(1), #))", async_41_2, fiber_41_2),
("match # { 1 | 2 => w.log(6), a => w.log(a) }", "match w.noisy(1).number() { one => w.wait(one + n) }", async_41_3, fiber_41_3),
("match # { 1 | 2 => w.log(6), a => w.log(a) }", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_41_4, fiber_41_4),
("match (#, w.noisy(7)) { (1, _) => w.log(6), (a, noisy) => w.log(noisy.number() + a) }", "w.wait(w.beside(&w.noisy(1), n))", async_42_0, fiber_42_0),
("match (#, w.noisy(7)) { (1, _) => w.log(6), (a, noisy) => w.log(noisy.number() + a) }", "w.noisy(1).wait(n)", async_42_1, fiber_42_1),
("match (#, w.noisy(7)) { (1, _) => w.log(6), (a, noisy) => w.log(noisy.number() + a) }", "w.wait(w.beside(&w.noisy(1), #))", async_42_2, fiber_42_2),
("match (#, w.noisy(7)) { (1, _) => w.log(6), (a, noisy) => w.log(noisy.number() + a) }", "match w.noisy(1).number() { one => w.wait(one + n) }", async_42_3, fiber_42_3),
("match (#, w.noisy(7)) { (1, _) => w.log(6), (a, noisy) => w.log(noisy.number() + a) }", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_42_4, fiber_42_4),
("match n { n if # > n + 1 => w.log(6), n if # == n + 1 => w.log(#), _ => w.log(8) }", "w.wait(w.beside(&w.noisy(1), n))", async_43_0, fiber_43_0),
("match n { n if # > n + 1 => w.log(6), n if # == n + 1 => w.log(#), _ => w.log(8) }", "w.noisy(1).wait(n)", async_43_1, fiber_43_1),
("match n { n if # > n + 1 => w.log(6), n if # == n + 1 => w.log(#), _ => w.log(8) }", "w.wait(w.beside(&w.noisy(1), #))", async_43_2, fiber_43_2),
("match n { n if # > n + 1 => w.log(6), n if # == n + 1 => w.log(#), _ => w.log(8) }", "match w.noisy(1).number() { one => w.wait(one + n) }", async_43_3, fiber_43_3),
("match n { n if # > n + 1 => w.log(6), n if # == n + 1 => w.log(#), _ => w.log(8) }", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_43_4, fiber_43_4),
("match w.some(n) { Some(a) if a < # => w.log(a), _ => w.log(w.noisy(7).number()) }", "w.wait(w.beside(&w.noisy(1), n))", async_44_0, fiber_44_0),
("match w.some(n) { Some(a) if a < # => w.log(a), _ => w.log(w.noisy(7).number()) }", "w.noisy(1).wait(n)", async_44_1, fiber_44_1),
("match w.some(n) { Some(a) if a < # => w.log(a), _ => w.log(w.noisy(7).number()) }", "w.wait(w.beside(&w.noisy(1), #))", async_44_2, fiber_44_2),
("match w.some(n) { Some(a) if a < # => w.log(a), _ => w.log(w.noisy(7).number()) }", "match w.noisy(1).number() { one => w.wait(one + n) }", async_44_3, fiber_44_3),
("match w.some(n) { Some(a) if a < # => w.log(a), _ => w.log(w.noisy(7).number()) }", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_44_4, fiber_44_4),
("let mut a = 0; while a < 2 && # > a { w.log(a); a += 1; }", "w.wait(w.beside(&w.noisy(1), n))", async_45_0, fiber_45_0),
("let mut a = 0; while a < 2 && # > a { w.log(a); a += 1; }", "w.noisy(1).wait(n)", async_45_1, fiber_45_1),
("let mut a = 0; while a < 2 && # > a { w.log(a); a += 1; }", "w.wait(w.beside(&w.noisy(1), #))", async_45_2, fiber_45_2),
("let mut a = 0; while a < 2 && # > a { w.log(a); a += 1; }", "match w.noisy(1).number() { one => w.wait(one + n) }", async_45_3, fiber_45_3),
("let mut a = 0; while a < 2 && # > a { w.log(a); a += 1; }", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_45_4, fiber_45_4),
("let mut a = 0; while let Some(b) = w.some(a + #) && a < 2 { w.log(b); a += 1; }", "w.wait(w.beside(&w.noisy(1), n))", async_46_0, fiber_46_0),
("let mut a = 0; while let Some(b) = w.some(a + #) && a < 2 { w.log(b); a += 1; }", "w.noisy(1).wait(n)", async_46_1, fiber_46_1),
("let mut a = 0; while let Some(b) = w.some(a + #) && a < 2 { w.log(b); a += 1; }", "w.wait(w.beside(&w.noisy(1), #))", async_46_2, fiber_46_2),
("let mut a = 0; while let Some(b) = w.some(a + #) && a < 2 { w.log(b); a += 1; }", "match w.noisy(1).number() { one => w.wait(one + n) }", async_46_3, fiber_46_3),
("let mut a = 0; while let Some(b) = w.some(a + #) && a < 2 { w.log(b); a += 1; }", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_46_4, fiber_46_4),
("for a in 0..(#).min(2) { w.log(a); }", "w.wait(w.beside(&w.noisy(1), n))", async_47_0, fiber_47_0),
("for a in 0..(#).min(2) { w.log(a); }", "w.noisy(1).wait(n)", async_47_1, fiber_47_1),
("for a in 0..(#).min(2) { w.log(a); }", "w.wait(w.beside(&w.noisy(1), #))", async_47_2, fiber_47_2),
("for a in 0..(#).min(2) { w.log(a); }", "match w.noisy(1).number() { one => w.wait(one + n) }", async_47_3, fiber_47_3),
("for a in 0..(#).min(2) { w.log(a); }", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_47_4, fiber_47_4),
("for a in [#, w.noisy(7).number()] { w.log(a); }", "w.wait(w.beside(&w.noisy(1), n))", async_48_0, fiber_48_0),
("for a in [#, w.noisy(7).number()] { w.log(a); }", "w.noisy(1).wait(n)", async_48_1, fiber_48_1),
("for a in [#, w.noisy(7).number()] { w.log(a); }", "w.wait(w.beside(&w.noisy(1), #))", async_48_2, fiber_48_2),
("for a in [#, w.noisy(7).number()] { w.log(a); }", "match w.noisy(1).number() { one => w.wait(one + n) }", async_48_3, fiber_48_3),
("for a in [#, w.noisy(7).number()] { w.log(a); }", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_48_4, fiber_48_4),
("for a in 0..2 { if # > a { continue } w.log(a); }", "w.wait(w.beside(&w.noisy(1), n))", async_49_0, fiber_49_0),
("for a in 0..2 { if # > a { continue } w.log(a); }", "w.noisy(1).wait(n)", async_49_1, fiber_49_1),
("for a in 0..2 { if # > a { continue } w.log(a); }", "w.wait(w.beside(&w.noisy(1), #))", async_49_2, fiber_49_2),
("for a in 0..2 { if # > a { continue } w.log(a); }", "match w.noisy(1).number() { one => w.wait(one + n) }", async_49_3, fiber_49_3),
("for a in 0..2 { if # > a { continue } w.log(a); }", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_49_4, fiber_49_4),
("if n == 1 { return ok(#) } w.log(7);", "w.wait(w.beside(&w.noisy(1), n))", async_50_0, fiber_50_0),
("if n == 1 { return ok(#) } w.log(7);", "w.noisy(1).wait(n)", async_50_1, fiber_50_1),
("if n == 1 { return ok(#) } w.log(7);", "w.wait(w.beside(&w.noisy(1), #))", async_50_2, fiber_50_2),
("if n == 1 { return ok(#) } w.log(7);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_50_3, fiber_50_3),
("if n == 1 { return ok(#) } w.log(7);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_50_4, fiber_50_4),
("if n == 1 { return ok(# + w.noisy(7).number()) } w.log(7);", "w.wait(w.beside(&w.noisy(1), n))", async_51_0, fiber_51_0),
("if n == 1 { return ok(# + w.noisy(7).number()) } w.log(7);", "w.noisy(1).wait(n)", async_51_1, fiber_51_1),
("if n == 1 { return ok(# + w.noisy(7).number()) } w.log(7);", "w.wait(w.beside(&w.noisy(1), #))", async_51_2, fiber_51_2),
("if n == 1 { return ok(# + w.noisy(7).number()) } w.log(7);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_51_3, fiber_51_3),
("if n == 1 { return ok(# + w.noisy(7).number()) } w.log(7);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_51_4, fiber_51_4),
("assert!(# < 100, \"{}\", w.noisy(7).number());", "w.wait(w.beside(&w.noisy(1), n))", async_52_0, fiber_52_0),
("assert!(# < 100, \"{}\", w.noisy(7).number());", "w.noisy(1).wait(n)", async_52_1, fiber_52_1),
("assert!(# < 100, \"{}\", w.noisy(7).number());", "w.wait(w.beside(&w.noisy(1), #))", async_52_2, fiber_52_2),
("assert!(# < 100, \"{}\", w.noisy(7).number());", "match w.noisy(1).number() { one => w.wait(one + n) }", async_52_3, fiber_52_3),
("assert!(# < 100, \"{}\", w.noisy(7).number());", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_52_4, fiber_52_4),
("assert_eq!(# - #, w.noisy(7).number() - 7);", "w.wait(w.beside(&w.noisy(1), n))", async_53_0, fiber_53_0),
("assert_eq!(# - #, w.noisy(7).number() - 7);", "w.noisy(1).wait(n)", async_53_1, fiber_53_1),
("assert_eq!(# - #, w.noisy(7).number() - 7);", "w.wait(w.beside(&w.noisy(1), #))", async_53_2, fiber_53_2),
("assert_eq!(# - #, w.noisy(7).number() - 7);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_53_3, fiber_53_3),
("assert_eq!(# - #, w.noisy(7).number() - 7);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_53_4, fiber_53_4),
("w.log(format!(\"{}{}\", #, w.noisy(7).number()).len() as i64);", "w.wait(w.beside(&w.noisy(1), n))", async_54_0, fiber_54_0),
("w.log(format!(\"{}{}\", #, w.noisy(7).number()).len() as i64);", "w.noisy(1).wait(n)", async_54_1, fiber_54_1),
("w.log(format!(\"{}{}\", #, w.noisy(7).number()).len() as i64);", "w.wait(w.beside(&w.noisy(1), #))", async_54_2, fiber_54_2),
("w.log(format!(\"{}{}\", #, w.noisy(7).number()).len() as i64);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_54_3, fiber_54_3),
("w.log(format!(\"{}{}\", #, w.noisy(7).number()).len() as i64);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_54_4, fiber_54_4),
("w.log(vec![w.noisy(7).number(), #, #].len() as i64);", "w.wait(w.beside(&w.noisy(1), n))", async_55_0, fiber_55_0),
("w.log(vec![w.noisy(7).number(), #, #].len() as i64);", "w.noisy(1).wait(n)", async_55_1, fiber_55_1),
("w.log(vec![w.noisy(7).number(), #, #].len() as i64);", "w.wait(w.beside(&w.noisy(1), #))", async_55_2, fiber_55_2),
("w.log(vec![w.noisy(7).number(), #, #].len() as i64);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_55_3, fiber_55_3),
("w.log(vec![w.noisy(7).number(), #, #].len() as i64);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_55_4, fiber_55_4),
("w.log(matches!(#, a if a < #) as i64);", "w.wait(w.beside(&w.noisy(1), n))", async_56_0, fiber_56_0),
("w.log(matches!(#, a if a < #) as i64);", "w.noisy(1).wait(n)", async_56_1, fiber_56_1),
("w.log(matches!(#, a if a < #) as i64);", "w.wait(w.beside(&w.noisy(1), #))", async_56_2, fiber_56_2),
("w.log(matches!(#, a if a < #) as i64);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_56_3, fiber_56_3),
("w.log(matches!(#, a if a < #) as i64);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_56_4, fiber_56_4),
("drop((w.noisy(7), #)); w.log(8);", "w.wait(w.beside(&w.noisy(1), n))", async_57_0, fiber_57_0),
("drop((w.noisy(7), #)); w.log(8);", "w.noisy(1).wait(n)", async_57_1, fiber_57_1),
("drop((w.noisy(7), #)); w.log(8);", "w.wait(w.beside(&w.noisy(1), #))", async_57_2, fiber_57_2),
("drop((w.noisy(7), #)); w.log(8);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_57_3, fiber_57_3),
("drop((w.noisy(7), #)); w.log(8);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_57_4, fiber_57_4),
("let _ = (w.noisy(7), #); w.log(8);", "w.wait(w.beside(&w.noisy(1), n))", async_58_0, fiber_58_0),
("let _ = (w.noisy(7), #); w.log(8);", "w.noisy(1).wait(n)", async_58_1, fiber_58_1),
("let _ = (w.noisy(7), #); w.log(8);", "w.wait(w.beside(&w.noisy(1), #))", async_58_2, fiber_58_2),
("let _ = (w.noisy(7), #); w.log(8);", "match w.noisy(1).number() { one => w.wait(one + n) }", async_58_3, fiber_58_3),
("let _ = (w.noisy(7), #); w.log(8);", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_58_4, fiber_58_4),
("let _a = w.noisy(7); let _b = @; w.log(8); @;", "w.wait(w.beside(&w.noisy(1), n))", async_59_0, fiber_59_0),
("let _a = w.noisy(7); let _b = @; w.log(8); @;", "w.noisy(1).wait(n)", async_59_1, fiber_59_1),
("let _a = w.noisy(7); let _b = @; w.log(8); @;", "w.wait(w.beside(&w.noisy(1), #))", async_59_2, fiber_59_2),
("let _a = w.noisy(7); let _b = @; w.log(8); @;", "match w.noisy(1).number() { one => w.wait(one + n) }", async_59_3, fiber_59_3),
("let _a = w.noisy(7); let _b = @; w.log(8); @;", "if w.noisy(1).number() > n { w.noisy(2).wait(n) } else { w.wait(w.beside(&w.noisy(3), n)) }", async_59_4, fiber_59_4),
];
type Program = (fn(&Plain, i64) -> Result<i64, Error>, fn(&Async, i64) -> Fiber<i64>, fn(&Async, i64) -> Fiber<i64>);
pub(crate) const PROGRAMS: [Program; 20] = [(plain_0, async_0, fiber_0),(plain_1, async_1, fiber_1),(plain_2, async_2, fiber_2),(plain_3, async_3, fiber_3),(plain_4, async_4, fiber_4),(plain_5, async_5, fiber_5),(plain_6, async_6, fiber_6),(plain_7, async_7, fiber_7),(plain_8, async_8, fiber_8),(plain_9, async_9, fiber_9),(plain_10, async_10, fiber_10),(plain_11, async_11, fiber_11),(plain_12, async_12, fiber_12),(plain_13, async_13, fiber_13),(plain_14, async_14, fiber_14),(plain_15, async_15, fiber_15),(plain_16, async_16, fiber_16),(plain_17, async_17, fiber_17),(plain_18, async_18, fiber_18),(plain_19, async_19, fiber_19),];