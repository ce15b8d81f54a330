// Package kjit is a safe binding of kjit: contexts, modules, arrays and launches, as far as a first program needs them. In raw.go,
// which tools/bindings.py made, is all of kjit.h.
package kjit

/*
#include <stdlib.h>
#include <kjit.h>
extern void kjitPrinted(void *user, char *text, size_t size);
*/
import "C"

import (
	"runtime"
	"runtime/cgo"
	"sync"
	"unsafe"
)

// Error is a failure: its status, and the sentence.
type Error struct {
	Status  int
	Message string
}

func (e *Error) Error() string { return e.Message }

// check calls kjit, and asks for the sentence on the same thread, whose own it is.
func check(ctx *C.kjit_context, call func() C.kjit_status) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	status := call()
	if status == C.KJIT_OK {
		return nil
	}
	return &Error{int(status), C.GoString(kjit_last_error(ctx))}
}

// Context is a device and its memory. Any goroutine may use it.
type Context struct {
	ptr     *C.kjit_context
	lock    sync.Mutex   // of what follows
	printer *C.uintptr_t // a handle of a func(string), in C's memory
}

// Open makes a context; "auto" is the first GPU, else the CPU.
func Open(device string) (*Context, error) {
	name := C.CString(device)
	defer C.free(unsafe.Pointer(name))
	options := (*C.kjit_context_options)(C.calloc(1, C.sizeof_kjit_context_options))
	defer C.free(unsafe.Pointer(options))
	options.device = name
	var ptr *C.kjit_context
	if err := check(nil, func() C.kjit_status { return kjit_context_create(options, &ptr, nil, 0) }); err != nil {
		return nil, err
	}
	return &Context{ptr: ptr}, nil
}

// Device names the device: "AMD EPYC (2 threads, AVX-512)".
func (ctx *Context) Device() (string, error) {
	var info C.kjit_device_info
	err := check(ctx.ptr, func() C.kjit_status { return kjit_context_device(ctx.ptr, &info) })
	return C.GoString(&info.name[0]), err
}

//export kjitPrinted
func kjitPrinted(user unsafe.Pointer, text *C.char, size C.size_t) {
	cgo.Handle(*(*C.uintptr_t)(user)).Value().(func(string))(C.GoStringN(text, C.int(size)))
}

// OnPrint takes what kernels print, as calls wait for them. An error within what takes it, where kjit refuses every call.
func (ctx *Context) OnPrint(print func(text string)) error {
	if _, err := ctx.Device(); err != nil {
		return err
	}
	ctx.lock.Lock()
	defer ctx.lock.Unlock()
	old := ctx.printer
	ctx.printer = (*C.uintptr_t)(C.malloc(C.sizeof_uintptr_t))
	*ctx.printer = C.uintptr_t(cgo.NewHandle(print))
	kjit_set_print(ctx.ptr, (*C.kjit_print_fn)(C.kjitPrinted), unsafe.Pointer(ctx.printer))
	dropPrinter(old)
	return nil
}

func dropPrinter(printer *C.uintptr_t) {
	if printer != nil {
		cgo.Handle(*printer).Delete()
		C.free(unsafe.Pointer(printer))
	}
}

// Close waits for all work, and lets the context go; its arrays and modules may be used until they are closed. Within what takes
// what kernels print it is an error, and the context stays open.
func (ctx *Context) Close() error {
	if ctx.ptr == nil {
		return nil
	}
	if _, err := ctx.Device(); err != nil {
		return err
	}
	kjit_synchronize(ctx.ptr)
	kjit_set_print(ctx.ptr, nil, nil)
	kjit_context_destroy(ctx.ptr)
	ctx.lock.Lock()
	defer ctx.lock.Unlock()
	dropPrinter(ctx.printer)
	ctx.ptr, ctx.printer = nil, nil
	return nil
}

// Module is the kernels of a source.
type Module struct {
	ctx *C.kjit_context
	ptr *C.kjit_module
}

// Compile checks the source; kernels are compiled at their first launches.
func (ctx *Context) Compile(name, source string) (*Module, error) {
	cname, csource := C.CString(name), C.CString(source)
	defer C.free(unsafe.Pointer(cname))
	defer C.free(unsafe.Pointer(csource))
	m := &Module{ctx: ctx.ptr}
	err := check(ctx.ptr, func() C.kjit_status {
		return kjit_module_compile(ctx.ptr, cname, csource, C.size_t(len(source)), nil, &m.ptr)
	})
	if err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// Close frees the module.
func (m *Module) Close() {
	kjit_module_free(m.ptr)
	m.ptr = nil
}

// Element is a type of elements.
type Element interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

func dtypeOf[T Element]() C.kjit_dtype {
	var zero T
	return map[any]C.kjit_dtype{int8(0): C.KJIT_I8, int16(0): C.KJIT_I16, int32(0): C.KJIT_I32, int64(0): C.KJIT_I64, uint8(0): C.KJIT_U8,
		uint16(0): C.KJIT_U16, uint32(0): C.KJIT_U32, uint64(0): C.KJIT_U64, float32(0): C.KJIT_F32, float64(0): C.KJIT_F64}[any(zero)]
}

// Array is elements in kjit's own host memory: kjit keeps addresses, which Go's memory may not be given for.
type Array[T Element] struct {
	ptr  *C.kjit_array
	Data []T // until the array is closed
}

// NewArray makes an array of zeros, in C order.
func NewArray[T Element](ctx *Context, shape ...int64) (*Array[T], error) {
	a := &Array[T]{}
	var first *C.int64_t
	if len(shape) > 0 {
		first = (*C.int64_t)(unsafe.Pointer(&shape[0]))
	}
	err := check(ctx.ptr, func() C.kjit_status {
		return kjit_array_create(ctx.ptr, dtypeOf[T](), C.int(len(shape)), first, 'C', C.KJIT_HOST, &a.ptr)
	})
	if err != nil {
		return nil, err
	}
	if n := int(kjit_array_size(a.ptr)); n > 0 {
		a.Data = unsafe.Slice((*T)(kjit_array_data(a.ptr)), n)
	}
	for i := range a.Data {
		a.Data[i] = 0
	}
	return a, nil
}

// Close frees the array.
func (a *Array[T]) Close() {
	kjit_array_free(a.ptr)
	*a = Array[T]{}
}

func (a *Array[T]) arg() C.kjit_arg { return kjit_arg_array(a.ptr) }

// Launch runs a kernel, and has ended when it returns; args are arrays, int, float64 and bool.
func (m *Module) Launch(kernel string, grid, block [3]int64, args ...any) error {
	name := C.CString(kernel)
	defer C.free(unsafe.Pointer(name))
	var config C.kjit_config
	given := make([]C.kjit_arg, len(args)+1)
	for i := range grid {
		config.grid[i], config.block[i] = C.int64_t(grid[i]), C.int64_t(block[i])
	}
	for i, arg := range args {
		switch value := arg.(type) {
		case interface{ arg() C.kjit_arg }:
			given[i] = value.arg()
		case int:
			given[i] = kjit_arg_i64(C.int64_t(value))
		case float64:
			given[i] = kjit_arg_f64(C.double(value))
		case bool:
			given[i] = kjit_arg_bool(map[bool]C.int{true: 1}[value])
		default:
			return &Error{C.KJIT_TYPE, "an argument is an array, an int, a float64 or a bool"}
		}
	}
	err := check(m.ctx, func() C.kjit_status { return kjit_launch(m.ptr, name, &config, &given[0], C.int(len(args))) })
	runtime.KeepAlive(args)
	return err
}
