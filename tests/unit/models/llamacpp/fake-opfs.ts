/** The origin private file system in memory, as far as models use it: one folder of files that can be written in place. */
export class FakeFolder {
  readonly files = new Map<string, Uint8Array>();
  /** Bytes that can still be written. */
  room = Number.POSITIVE_INFINITY;

  get root(): FileSystemDirectoryHandle {
    return { getDirectoryHandle: async () => this.folder } as unknown as FileSystemDirectoryHandle;
  }

  private get folder(): FileSystemDirectoryHandle {
    const { files } = this;
    return {
      getFileHandle: async (name: string, { create = false } = {}) => {
        if (!files.has(name)) {
          if (!create) throw new DOMException('no such file', 'NotFoundError');
          files.set(name, new Uint8Array());
        }
        return this.file(name);
      },
      removeEntry: async (name: string) => void files.delete(name),
      async *[Symbol.asyncIterator]() {
        for (const name of files.keys()) yield [name, {}];
      },
    } as unknown as FileSystemDirectoryHandle;
  }

  private file(name: string): object {
    const read = (): Uint8Array => this.files.get(name)!;
    const resize = (length: number): Uint8Array => {
      const bytes = new Uint8Array(length);
      bytes.set(read().subarray(0, length));
      this.files.set(name, bytes);
      return bytes;
    };
    return {
      getFile: async () => new Blob([read() as BlobPart]),
      createSyncAccessHandle: async () => ({
        truncate: resize,
        write: (data: Uint8Array, { at }: { at: number }) => {
          this.room -= data.length;
          if (this.room < 0) throw new DOMException('full', 'QuotaExceededError');
          resize(Math.max(at + data.length, read().length)).set(data, at);
          return data.length;
        },
        flush: () => undefined,
        close: () => undefined,
      }),
    };
  }
}
