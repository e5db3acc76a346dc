// C interface to NVIDIA's occupancy calculator, for tests/oracle/header.py.
// cuda_occupancy.h comes from the nvidia-cuda-runtime wheel and is never copied here.
#include <cuda_occupancy.h>

#include <climits>
#include <cstddef>
#include <cstdint>

extern "C" {

struct Device {  // mirrored by header.Device
    int32_t major, minor, max_threads_per_block, max_threads_per_sm;
    int32_t registers_per_block, registers_per_sm, warp_size, sm_count;
    int64_t shared_per_block, shared_per_sm, shared_per_block_optin, reserved_per_block;
};

struct Kernel {  // mirrored by header.Kernel
    int32_t registers, max_threads, barriers, virtual_resources;
    int32_t partitioned_caching, opt_in, carveout, unused;
    int64_t static_bytes, max_dynamic_bytes;
};

struct Answer {  // mirrored by header.Answer
    int32_t status, blocks;
    uint32_t factors;
    int32_t registers, shared_memory, warps, block_slots, barriers, virtual_resources;
    int32_t allocated_registers;
    int64_t allocated_shared_bytes;
    int32_t partitioned_caching, unused;
};

}  // extern "C"

namespace {

cudaOccDeviceProp properties_of(const Device &device)
{
    cudaOccDeviceProp properties;
    properties.computeMajor = device.major;
    properties.computeMinor = device.minor;
    properties.maxThreadsPerBlock = device.max_threads_per_block;
    properties.maxThreadsPerMultiprocessor = device.max_threads_per_sm;
    properties.regsPerBlock = device.registers_per_block;
    properties.regsPerMultiprocessor = device.registers_per_sm;
    properties.warpSize = device.warp_size;
    properties.numSms = device.sm_count;
    properties.sharedMemPerBlock = device.shared_per_block;
    properties.sharedMemPerMultiprocessor = device.shared_per_sm;
    properties.sharedMemPerBlockOptin = device.shared_per_block_optin;
    properties.reservedSharedMemPerBlock = device.reserved_per_block;
    return properties;
}

// What the header wants to know beside the launch itself.
struct Case {
    cudaOccDeviceProp properties;
    cudaOccFuncAttributes attributes;
    cudaOccDeviceState state;

    Case(const Device &device, const Kernel &kernel) : properties(properties_of(device))
    {
        attributes.maxThreadsPerBlock = kernel.max_threads;
        attributes.numRegs = kernel.registers;
        attributes.sharedSizeBytes = kernel.static_bytes;
        attributes.partitionedGCConfig =
            static_cast<cudaOccPartitionedGCConfig>(kernel.partitioned_caching);
        attributes.shmemLimitConfig =
            kernel.opt_in ? FUNC_SHMEM_LIMIT_OPTIN : FUNC_SHMEM_LIMIT_DEFAULT;
        attributes.maxDynamicSharedSizeBytes = kernel.max_dynamic_bytes;
        attributes.numBlockBarriers = kernel.barriers;
        attributes.virtualResourceCount = kernel.virtual_resources;
        state.carveoutConfig = kernel.carveout;
    }

    cudaOccError ask(cudaOccResult &result, int threads, size_t dynamic_bytes) const
    {
        return cudaOccMaxActiveBlocksPerMultiprocessor(
            &result, &properties, &attributes, &state, threads, dynamic_bytes);
    }

    // Blocks per SM; an error is its negated status.
    int blocks(int threads, size_t dynamic_bytes) const
    {
        cudaOccResult result;
        const cudaOccError status = ask(result, threads, dynamic_bytes);
        return status == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor
                                          : -static_cast<int>(status);
    }
};

}  // namespace

extern "C" {

void one(const Device *device, const Kernel *kernel, int32_t threads, int64_t dynamic_bytes,
         Answer *answer)
{
    const Case question(*device, *kernel);
    cudaOccResult result = {};
    answer->status = question.ask(result, threads, dynamic_bytes);
    answer->blocks = result.activeBlocksPerMultiprocessor;
    answer->factors = result.limitingFactors;
    answer->registers = result.blockLimitRegs;
    answer->shared_memory = result.blockLimitSharedMem;
    answer->warps = result.blockLimitWarps;
    answer->block_slots = result.blockLimitBlocks;
    answer->barriers = result.blockLimitBarriers;
    answer->virtual_resources = result.blockLimitVirtual;
    answer->allocated_registers = result.allocatedRegistersPerBlock;
    answer->allocated_shared_bytes = result.allocatedSharedMemPerBlock;
    answer->partitioned_caching = result.partitionedGCConfig;
}

// One answer per row. Static memory stays as `kernel` has it; `dynamic_bytes` varies.
void batch(const Device *device, const Kernel *kernel, int64_t rows, const int32_t *threads,
           const int32_t *registers, const int32_t *dynamic_bytes, const int32_t *carveout,
           const int32_t *barriers, int8_t *blocks, uint8_t *factors)
{
    Case question(*device, *kernel);
    for (int64_t row = 0; row < rows; ++row) {
        question.attributes.numRegs = registers[row];
        question.attributes.numBlockBarriers = barriers[row];
        question.state.carveoutConfig = carveout[row];
        cudaOccResult result;
        const cudaOccError status = question.ask(result, threads[row], dynamic_bytes[row]);
        const bool fine = status == CUDA_OCC_SUCCESS;
        blocks[row] = fine ? result.activeBlocksPerMultiprocessor : -static_cast<int>(status);
        factors[row] = fine ? result.limitingFactors : 0;
    }
}

// The limits of every row: limits[row] is registers, shared memory, warps, block slots, barriers.
void batch_limits(const Device *device, const Kernel *kernel, int64_t rows, const int32_t *threads,
                  const int32_t *registers, const int32_t *dynamic_bytes, const int32_t *carveout,
                  const int32_t *barriers, int32_t *limits)
{
    Case question(*device, *kernel);
    for (int64_t row = 0; row < rows; ++row) {
        question.attributes.numRegs = registers[row];
        question.attributes.numBlockBarriers = barriers[row];
        question.state.carveoutConfig = carveout[row];
        cudaOccResult result = {};
        question.ask(result, threads[row], dynamic_bytes[row]);
        *limits++ = result.blockLimitRegs;
        *limits++ = result.blockLimitSharedMem;
        *limits++ = result.blockLimitWarps;
        *limits++ = result.blockLimitBlocks;
        *limits++ = result.blockLimitBarriers;
    }
}

// blocks[thread][register][shared]: threads from `first_thread` up, registers from 0 up, shared
// memory in steps of `step` bytes from 0 up.
void mesh(const Device *device, const Kernel *kernel, int32_t first_thread, int32_t threads,
          int32_t registers, int32_t steps, int32_t step, int8_t *blocks)
{
    Case question(*device, *kernel);
    for (int32_t thread = first_thread; thread < first_thread + threads; ++thread) {
        for (int32_t count = 0; count < registers; ++count) {
            question.attributes.numRegs = count;
            for (int32_t index = 0; index < steps; ++index) {
                *blocks++ = question.blocks(thread, static_cast<size_t>(index) * step);
            }
        }
    }
}

// The same walk with nothing but the header's call; the sum keeps the calls from being dropped.
int64_t time_mesh(const Device *device, const Kernel *kernel, int32_t first_thread, int32_t threads,
                  int32_t registers, int32_t steps, int32_t step)
{
    Case question(*device, *kernel);
    int64_t sum = 0;
    for (int32_t thread = first_thread; thread < first_thread + threads; ++thread) {
        for (int32_t count = 0; count < registers; ++count) {
            question.attributes.numRegs = count;
            for (int32_t index = 0; index < steps; ++index) {
                sum += question.blocks(thread, static_cast<size_t>(index) * step);
            }
        }
    }
    return sum;
}

int64_t time_rows(const Device *device, const Kernel *kernel, int64_t rows, const int32_t *threads,
                  const int32_t *registers, const int32_t *dynamic_bytes)
{
    Case question(*device, *kernel);
    int64_t sum = 0;
    for (int64_t row = 0; row < rows; ++row) {
        question.attributes.numRegs = registers[row];
        sum += question.blocks(threads[row], dynamic_bytes[row]);
    }
    return sum;
}

// `dynamic_bytes[t]` is the dynamic shared memory of a block of t threads, t in 0..1024.
int32_t potential_block_size(const Device *device, const Kernel *kernel,
                             const int64_t *dynamic_bytes, int32_t *grid, int32_t *block)
{
    const Case question(*device, *kernel);
    return cudaOccMaxPotentialOccupancyBlockSizeVariableSMem(
        grid, block, &question.properties, &question.attributes, &question.state,
        [dynamic_bytes](int threads) { return static_cast<size_t>(dynamic_bytes[threads]); });
}

int32_t available_dynamic(const Device *device, const Kernel *kernel, int32_t blocks,
                          int32_t threads, int64_t *dynamic_bytes)
{
    const Case question(*device, *kernel);
    size_t bytes = 0;
    const cudaOccError status = cudaOccAvailableDynamicSMemPerBlock(
        &bytes, &question.properties, &question.attributes, &question.state, blocks, threads);
    *dynamic_bytes = static_cast<int64_t>(bytes);
    return status;
}

// The shared memory that a carveout preference in percent configures, in bytes; an error is its
// negated status.
int64_t carveout_bytes(const Device *device, int32_t percent)
{
    const cudaOccDeviceProp properties = properties_of(*device);
    cudaOccDeviceState state;
    state.carveoutConfig = percent;
    size_t bytes = 0;
    const cudaOccError status = cudaOccSMemPerMultiprocessor(&bytes, &properties, &state);
    return status == CUDA_OCC_SUCCESS ? static_cast<int64_t>(bytes) : -static_cast<int64_t>(status);
}

}  // extern "C"
