//! A safe binding of kjit: contexts, modules, arrays and launches, as far as a first program needs them. `raw` is all of kjit.h, which
//! tools/bindings.py made.
use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::os::raw::{c_char, c_int, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null_mut;

#[allow(non_camel_case_types, dead_code, clippy::all)]
pub mod raw {
    include!(env!("KJIT_RAW"));
}

/// A failure: its status, and the sentence.
#[derive(Debug)]
pub struct Error {
    pub status: raw::kjit_status,
    pub message: String,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

fn text(of: *const c_char) -> String {
    if of.is_null() { String::new() } else { unsafe { CStr::from_ptr(of) }.to_string_lossy().into_owned() }
}

fn c_text(of: &str) -> Result<CString> {
    CString::new(of).map_err(|_| Error { status: raw::KJIT_INVALID, message: "a name has a NUL in it".into() })
}

fn check(ctx: *mut raw::kjit_context, status: raw::kjit_status) -> Result<()> {
    if status == raw::KJIT_OK {
        return Ok(());
    }
    Err(Error { status, message: text(unsafe { raw::kjit_last_error(ctx) }) })
}

type Printer = Box<dyn FnMut(&str) + Send>;

/// What kernels print; a panic must not go through C.
unsafe extern "C" fn printed(user: *mut c_void, lines: *const c_char, size: usize) {
    let bytes = std::slice::from_raw_parts(lines as *const u8, size);
    let _ = catch_unwind(AssertUnwindSafe(|| (*(user as *mut Printer))(&String::from_utf8_lossy(bytes))));
}

/// A device and its memory.
pub struct Context {
    ptr: *mut raw::kjit_context,
    printer: *mut Printer,
}

unsafe impl Send for Context {}
unsafe impl Sync for Context {}

impl Context {
    /// "auto": the first GPU, else the CPU.
    pub fn new(device: &str) -> Result<Context> {
        let device = c_text(device)?;
        let options = raw::kjit_context_options { device: device.as_ptr(), ..Default::default() };
        let mut ptr = null_mut();
        check(null_mut(), unsafe { raw::kjit_context_create(&options, &mut ptr, null_mut(), 0) })?;
        Ok(Context { ptr, printer: null_mut() })
    }

    /// "AMD EPYC (2 threads, AVX-512)"
    pub fn device(&self) -> Result<String> {
        let mut info = raw::kjit_device_info::default();
        check(self.ptr, unsafe { raw::kjit_context_device(self.ptr, &mut info) })?;
        Ok(text(info.name.as_ptr()))
    }

    /// Takes what kernels print, as calls wait for them. An error within what takes it, where kjit refuses every call.
    pub fn on_print(&mut self, print: impl FnMut(&str) + Send + 'static) -> Result<()> {
        self.device()?;
        let old = std::mem::replace(&mut self.printer, Box::into_raw(Box::new(Box::new(print) as Printer)));
        unsafe { raw::kjit_set_print(self.ptr, Some(printed), self.printer as *mut c_void) };
        drop_printer(old);
        Ok(())
    }

    pub fn compile(&self, name: &str, source: &str) -> Result<Module> {
        let name = c_text(name)?;
        let mut module = Module { ctx: self.ptr, ptr: null_mut() };
        check(self.ptr, unsafe {
            let text = source.as_ptr() as *const c_char;
            raw::kjit_module_compile(self.ptr, name.as_ptr(), text, source.len(), std::ptr::null(), &mut module.ptr)
        })?;
        Ok(module)
    }

    /// Over elements of the program's, which the array has for as long as it lives.
    pub fn wrap<'a, T: Element>(&self, data: &'a mut [T], shape: &[i64]) -> Result<Array<'a, T>> {
        let fits = shape.iter().all(|&n| n >= 0) && shape.iter().try_fold(1i64, |size, &n| size.checked_mul(n)) == Some(data.len() as i64);
        if !fits {
            return Err(Error { status: raw::KJIT_SHAPE, message: format!("{} elements have no shape {:?}", data.len(), shape) });
        }
        let mut array = Array { ptr: null_mut(), of: PhantomData };
        check(self.ptr, unsafe {
            raw::kjit_array_wrap(self.ptr, data.as_mut_ptr() as *mut c_void, T::DTYPE, shape.len() as c_int, shape.as_ptr(),
                                 std::ptr::null(), raw::KJIT_HOST, &mut array.ptr)
        })?;
        Ok(array)
    }
}

fn drop_printer(printer: *mut Printer) {
    if !printer.is_null() {
        drop(unsafe { Box::from_raw(printer) });
    }
}

/// Waits for all work. Within what takes what kernels print the context cannot end, nor may that be dropped: both stay.
impl Drop for Context {
    fn drop(&mut self) {
        if self.device().is_err() {
            return;
        }
        unsafe {
            raw::kjit_synchronize(self.ptr);
            raw::kjit_set_print(self.ptr, None, null_mut());
            raw::kjit_context_destroy(self.ptr);
        }
        drop_printer(self.printer);
    }
}

/// Types of elements, laid out as kjit has them.
///
/// # Safety
/// DTYPE is the type's, and all of its bits are values.
pub unsafe trait Element: Copy {
    const DTYPE: raw::kjit_dtype;
}
macro_rules! elements { ($($of:ty: $dtype:ident),*) => { $(unsafe impl Element for $of { const DTYPE: raw::kjit_dtype = raw::$dtype; })* } }
elements!(i8: KJIT_I8, i16: KJIT_I16, i32: KJIT_I32, i64: KJIT_I64, u8: KJIT_U8, u16: KJIT_U16, u32: KJIT_U32, u64: KJIT_U64, f32: KJIT_F32,
          f64: KJIT_F64);

pub struct Array<'a, T> {
    ptr: *mut raw::kjit_array,
    of: PhantomData<&'a mut [T]>,
}

impl<T> Drop for Array<'_, T> {
    fn drop(&mut self) {
        unsafe { raw::kjit_array_free(self.ptr) }
    }
}

/// An argument of a launch.
#[derive(Clone, Copy)]
pub struct Arg<'a>(raw::kjit_arg, PhantomData<&'a ()>);

impl<'a, T> From<&'a Array<'_, T>> for Arg<'a> {
    fn from(array: &'a Array<'_, T>) -> Self {
        Arg(raw::kjit_arg_array(array.ptr), PhantomData)
    }
}
macro_rules! numbers { ($($of:ty: $make:ident),*) => { $(impl From<$of> for Arg<'_> {
    fn from(value: $of) -> Self { Arg(raw::$make(value.into()), PhantomData) }
})* } }
numbers!(i32: kjit_arg_i64, i64: kjit_arg_i64, u64: kjit_arg_u64, f32: kjit_arg_f64, f64: kjit_arg_f64, bool: kjit_arg_bool);

/// The kernels of a source; it may outlive its context.
pub struct Module {
    ctx: *mut raw::kjit_context,
    ptr: *mut raw::kjit_module,
}

impl Module {
    /// Has ended when it returns.
    pub fn launch(&self, kernel: &str, grid: [i64; 3], block: [i64; 3], args: &[Arg]) -> Result<()> {
        let kernel = c_text(kernel)?;
        let config = raw::kjit_config { grid, block, ..Default::default() };
        let args: Vec<raw::kjit_arg> = args.iter().map(|arg| arg.0).collect();
        check(self.ctx, unsafe { raw::kjit_launch(self.ptr, kernel.as_ptr(), &config, args.as_ptr(), args.len() as c_int) })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        unsafe { raw::kjit_module_free(self.ptr) }
    }
}
