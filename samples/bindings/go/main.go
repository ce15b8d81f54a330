// A kernel on arrays of kjit's, what it prints, and two mistakes; main --layouts: what is where in the structs.
package main

import (
	"fmt"
	"os"
	"strings"

	"kjit.example/kjit"
)

const source = `
kernel saxpy(a: f32, x: f32[], y: f32[]) {
    requires x.size == y.size
    let i = grid(1)
    if i < y.size { y[i] = a * x[i] + y[i] }
    if i == 0 { print("y[0] is", y[0]) }
}
`

func work(device string) error {
	const n = 100000
	ctx, err := kjit.Open(device)
	if err != nil {
		return err
	}
	defer ctx.Close()
	var printed strings.Builder
	if err := ctx.OnPrint(func(text string) { printed.WriteString(text) }); err != nil {
		return err
	}
	module, err := ctx.Compile("saxpy.knl", source)
	if err != nil {
		return err
	}
	defer module.Close()
	var arrays []*kjit.Array[float32]
	for _, size := range []int64{n, n, 3} {
		a, err := kjit.NewArray[float32](ctx, size)
		if err != nil {
			return err
		}
		defer a.Close()
		arrays = append(arrays, a)
	}
	x, y, short := arrays[0], arrays[1], arrays[2]
	for i := range x.Data {
		x.Data[i], y.Data[i] = float32(i), 1
	}
	grid, block := [3]int64{(n + 255) / 256, 1, 1}, [3]int64{256, 1, 1}
	if err := module.Launch("saxpy", grid, block, 2.0, x, y); err != nil {
		return err
	}
	fmt.Println("refused:", module.Launch("saxpy", grid, block, 2.0, x, short))
	_, err = ctx.Compile("wrong.knl", "kernel f(x: f32[]) { x[0] = sqroot(2.0) }")
	fmt.Println("wrong:", err)
	wrong := 0
	for i := range y.Data {
		if y.Data[i] != 2*float32(i)+1 {
			wrong++
		}
	}
	name, err := ctx.Device()
	if err != nil {
		return err
	}
	fmt.Println("device:", name)
	fmt.Println("printed:", strings.TrimSpace(printed.String()))
	fmt.Printf("%d elements, %d wrong\n", n, wrong)
	return nil
}

func main() {
	device := "auto"
	if len(os.Args) > 1 {
		device = os.Args[1]
	}
	if device == "--layouts" {
		fmt.Print(kjit.Layouts())
	} else if err := work(device); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
