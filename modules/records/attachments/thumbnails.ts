import { rm, writeFile } from 'node:fs/promises'
import { isSafeImage } from '../../../src/core/fields/attachment-kinds.ts'
import type { FileStores, StoredFile } from '../../../src/storage/index.ts'
import { isImageError, MAX_PIXELS } from './file-type.ts'
import type { FileRow } from './files.ts'
import { explainDisk, type Incoming } from './incoming.ts'
import { storeKeyOf, THUMBNAIL_SIZES, type ThumbnailSize, thumbnailKey } from './links.ts'

/** Images decoded at a time: each may take a quarter of a gigabyte. */
const MAX_AT_ONCE = 2
/** Images that cannot be decoded here are served unchanged up to this size. */
const MAX_UNCHANGED = 1024 ** 2

/** Thumbnails, created on first request by Bun’s codecs, off the main thread, and kept in the store of the image. */
export function createThumbnails({ stores, incoming }: { stores: FileStores; incoming: Incoming }) {
  const making = new Map<string, Promise<StoredFile | null>>()
  const waiting: (() => void)[] = []
  let running = 0

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= MAX_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve))
    running++
    try {
      return await work()
    } finally {
      running--
      waiting.shift()?.()
    }
  }

  async function make(
    { path, storeId }: Pick<FileRow, 'path' | 'storeId'>,
    size: ThumbnailSize,
  ): Promise<StoredFile | null> {
    const files = await stores.get(storeId)
    const original = await files.find(storeKeyOf(path))
    if (!original) return null
    const side = THUMBNAIL_SIZES[size]
    const draft = incoming.place()
    try {
      const image = new Bun.Image(await original.bytes(), { maxPixels: MAX_PIXELS })
      const small = image
        .resize(side, side, { fit: 'inside', withoutEnlargement: true })
        .webp({ quality: 80 })
      await writeFile(draft, await small.bytes())
      await files.keep(thumbnailKey(path, size), draft, 'image/webp')
      return await files.find(thumbnailKey(path, size))
    } catch (error) {
      if (isImageError(error)) return null
      throw explainDisk(error)
    } finally {
      await rm(draft, { force: true })
    }
  }

  return {
    /**
     * A thumbnail with its type; null if none can be created. Small images of formats that browsers show but this
     * server cannot decode (AVIF) are returned unchanged.
     */
    async find(
      image: Pick<FileRow, 'path' | 'storeId' | 'mimetype'>,
      size: ThumbnailSize,
    ): Promise<{ file: StoredFile; mimetype: string } | null> {
      const { path, mimetype } = image
      const files = await stores.get(image.storeId)
      const key = thumbnailKey(path, size)
      const known = await files.find(key)
      if (known) return { file: known, mimetype: 'image/webp' }
      const work = making.get(key) ?? inTurn(() => make(image, size)).finally(() => making.delete(key))
      making.set(key, work)
      const made = await work
      if (made) return { file: made, mimetype: 'image/webp' }
      const original = isSafeImage(mimetype) ? await files.find(storeKeyOf(path)) : null
      return original && original.size <= MAX_UNCHANGED ? { file: original, mimetype } : null
    },

    /** Deletes all thumbnails of an image. */
    async remove({ path, storeId }: Pick<FileRow, 'path' | 'storeId'>): Promise<void> {
      const files = await stores.get(storeId)
      for (const size of Object.keys(THUMBNAIL_SIZES))
        await files.remove(thumbnailKey(path, size as ThumbnailSize))
    },
  }
}
