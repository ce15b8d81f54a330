//! A kernel on the program's own vectors, what it prints, and two mistakes; main --layouts: what is where in the structs.
mod kjit;

use std::sync::{Arc, Mutex};

const SOURCE: &str = "
kernel saxpy(a: f32, x: f32[], y: f32[]) {
    requires x.size == y.size
    let i = grid(1)
    if i < y.size { y[i] = a * x[i] + y[i] }
    if i == 0 { print(\"y[0] is\", y[0]) }
}
";

fn work(device: &str) -> kjit::Result<()> {
    const N: usize = 100_000;
    let mut x: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let mut y = vec![1f32; N];
    let mut short = vec![0f32; 3];
    let lines = Arc::new(Mutex::new(String::new()));
    let mut ctx = kjit::Context::new(device)?;
    let kept = lines.clone();
    ctx.on_print(move |text| kept.lock().unwrap().push_str(text))?;
    let module = ctx.compile("saxpy.knl", SOURCE)?;
    {
        let (a, b, c) = (ctx.wrap(&mut x, &[N as i64])?, ctx.wrap(&mut y, &[N as i64])?, ctx.wrap(&mut short, &[3])?);
        let grid = [(N as i64 + 255) / 256, 1, 1];
        module.launch("saxpy", grid, [256, 1, 1], &[2.0.into(), (&a).into(), (&b).into()])?;
        match module.launch("saxpy", grid, [256, 1, 1], &[2.0.into(), (&a).into(), (&c).into()]) {
            Err(error) if error.status == kjit::raw::KJIT_LAUNCH => println!("refused: {error}"),
            Err(error) => return Err(error),
            Ok(()) => println!("arrays of two sizes were taken"),
        }
    }
    match ctx.compile("wrong.knl", "kernel f(x: f32[]) { x[0] = sqroot(2.0) }") {
        Err(error) => println!("wrong: {error}"),
        Ok(_) => println!("a wrong source was taken"),
    }
    let wrong = (0..N).filter(|&i| y[i] != 2.0 * i as f32 + 1.0).count();
    println!("device: {}", ctx.device()?);
    println!("printed: {}", lines.lock().unwrap().trim_end());
    println!("{N} elements, {wrong} wrong");
    Ok(())
}

fn main() {
    let word = std::env::args().nth(1).unwrap_or_else(|| "auto".into());
    if word == "--layouts" {
        print!("{}", kjit::raw::layouts());
    } else if let Err(error) = work(&word) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
