#!/bin/bash
# Builds the containers of this directory again: nvcc 13.0 or later, and the C++ compiler it uses.
set -euo pipefail
cd "$(dirname "$0")"
kernels=../../../examples/kernels
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$kernels"/saxpy.cu "$kernels"/tiled_matmul.cu "$kernels"/axpy_template.cu "$work"
here=$PWD
cd "$work"

both=(-gencode arch=compute_80,code=sm_80 -gencode "arch=compute_90,code=[sm_90,compute_90]")
nvcc "${both[@]}" -fatbin saxpy.cu -o "$here/plain.fatbin"
nvcc "${both[@]}" -fatbin --compress-mode=size saxpy.cu -o "$here/compressed.fatbin"
nvcc -gencode arch=compute_80,code=compute_80 -fatbin saxpy.cu -o "$here/ptx_only.fatbin"
nvcc -gencode arch=compute_90,code=lto_90 -fatbin saxpy.cu -o "$here/lto.fatbin"

for name in saxpy tiled_matmul; do
    nvcc "${both[@]}" -c "$name.cu" -o "$name.o"
done
cp tiled_matmul.o "$here/object.o"
nvcc "${both[@]}" -rdc=true -c tiled_matmul.cu -o "$here/relocatable.o"
ar crD "$here/libstatic.a" saxpy.o tiled_matmul.o

# without CUDA's run-time library, which would bring device code of its own
alone=(-cudart none -Xlinker --unresolved-symbols=ignore-all -Xlinker -s)
nvcc "${both[@]}" "${alone[@]}" -shared -Xcompiler -fPIC saxpy.cu tiled_matmul.cu -o "$here/shared.so"
echo 'int main() { return 0; }' >main.cu
nvcc "${both[@]}" "${alone[@]}" main.cu tiled_matmul.cu -o "$here/program"

# images that name their sources, two of one name
mkdir one two
cp saxpy.cu one/kernel.cu
cp tiled_matmul.cu two/kernel.cu
nvcc "${both[@]}" "${alone[@]}" -lineinfo -shared -Xcompiler -fPIC one/kernel.cu two/kernel.cu \
    -o "$here/lineinfo.so"

# an image that cuobjdump refuses, between two that it takes
nvcc -arch=sm_80 -cubin saxpy.cu -o first.cubin
nvcc -arch=sm_86 -cubin tiled_matmul.cu -o last.cubin
fatbinary -64 --create="$here/refused.fatbin" \
    --image3=kind=elf,sm=80,file=first.cubin \
    --image3=kind=elf,sm=90,file="$here/../cubin/shared.sm_90.ptxas121.cubin" \
    --image3=kind=elf,sm=86,file=last.cubin

echo 'int answer() { return 42; }' >host.cpp
g++ -c host.cpp -o "$here/host.o"
