//! What takes what kernels print replaces itself, and drops the context that calls it: both are refused, and what it has stays.
#[path = "../../../samples/bindings/rust/kjit.rs"]
mod kjit;

use std::sync::{Arc, Mutex};

fn main() {
    let place = Arc::new(Mutex::new(None::<kjit::Context>));
    let told = Arc::new(Mutex::new(Vec::new()));
    let mut ctx = kjit::Context::new("cpu").unwrap();
    let module = ctx.compile("says.knl", "kernel says(n: i32) { print(n) }").unwrap();
    let (inner, kept) = (place.clone(), told.clone());
    let mut before = vec![String::from("begun")];
    ctx.on_print(move |text| {
        let mut held = inner.lock().unwrap();
        if let Some(ctx) = held.as_mut() {
            before.push(format!("{}: replaced {}", text.trim(), ctx.on_print(|_| ()).is_ok()));
        }
        if text.starts_with('2') {
            *held = None; // dropped, with its work still being told
        }
        before.push(String::from("told"));
        *kept.lock().unwrap() = before.clone();
    })
    .unwrap();
    *place.lock().unwrap() = Some(ctx);
    for n in 1..4 {
        module.launch("says", [1, 1, 1], [1, 1, 1], &[n.into()]).unwrap();
    }
    println!("{:?}", told.lock().unwrap());
}
