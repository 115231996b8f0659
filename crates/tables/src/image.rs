//! The bytes of a table.

/// A table as in its file.
pub(crate) enum Image {
    Memory(Vec<u8>),
    #[cfg(feature = "fs")]
    Mapped(memmap2::Mmap),
}

impl Image {
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Image::Memory(bytes) => bytes,
            #[cfg(feature = "fs")]
            Image::Mapped(bytes) => bytes,
        }
    }
}
