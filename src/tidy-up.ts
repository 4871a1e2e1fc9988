import { isStorageFull } from './storage-full.ts'

/** How often a removal is repeated while the disk is full. */
const AGAIN_MS = 2_000

/**
 * Removes what failed work has left. On a full disk even a removal needs room: it is repeated in the background until there
 * is some, and the promise resolves meanwhile.
 *
 * @param onFailure gets any other error
 */
export async function tidyUp(
  remove: () => Promise<unknown>,
  onFailure: (error: unknown) => void,
): Promise<void> {
  try {
    await remove()
  } catch (error) {
    if (!isStorageFull(error)) return onFailure(error)
    setTimeout(() => void tidyUp(remove, onFailure), AGAIN_MS).unref()
  }
}
