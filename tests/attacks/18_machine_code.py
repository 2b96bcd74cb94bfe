"""No memory can be made executable."""
# expect: answers
# ruff: noqa
class Mechanism(Attack):
    def attack(self):
        mmap, libc = harness()["lockdown"].mmap, harness()["lockdown"].libc
        def protect():
            m = harness()["lockdown"].ctypes.create_string_buffer(8192)
            return libc.mprotect(harness()["lockdown"].ctypes.c_void_p((harness()["lockdown"].ctypes.addressof(m) + 4095) & ~4095), 4096, 7) == 0 or refused()
        return [attempt("mmap", lambda: mmap.mmap(-1, 4096, prot=7)), attempt("mprotect", protect), attempt("pkey", lambda: syscall(329, 0, 4096, 7, 0))]
