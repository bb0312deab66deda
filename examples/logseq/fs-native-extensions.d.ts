declare module 'fs-native-extensions' {
  /** Locks an open, writable file for its descriptor alone. False while another descriptor has the lock. */
  export function tryLock(fd: number): boolean;
}
