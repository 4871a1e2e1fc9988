import {
  File,
  FileArchive,
  FileImage,
  FileMusic,
  FileSpreadsheet,
  FileText,
  FileVideoCamera,
  Link,
  type LucideIcon,
  Presentation,
} from 'lucide-react'
import { useState } from 'react'
import type { AttachmentItem } from '../../src/core/fields/attachment-item.ts'
import { type FileKind, fileKind } from '../../src/core/fields/attachment-kinds.ts'
import styles from './file-thumb.module.css'
import { distrust, type SignedFile, useSignedFile } from './signed-files.ts'

interface FileThumbProps {
  item: AttachmentItem
  tableId: string
  /** Height in pixels; the width follows the image, within limits. */
  size: number
  /** Square, whatever the image's aspect ratio. */
  square?: boolean
  /** Accessible name, if the file name is not displayed. */
  label?: string
}

/** A thumbnail for images, an icon for other files. Reserves its space before the image loads. */
export function FileThumb({ item, tableId, size, square = false, label }: FileThumbProps) {
  const signed = useSignedFile(tableId, item.path)
  const [broken, setBroken] = useState<string | null>(null)
  const src = signed ? sourceOf(item, signed, size) : null
  const ending = endingOf(item.title)
  return (
    <span
      className={styles.thumb}
      {...(label === undefined ? {} : { role: 'img', 'aria-label': label })}
      style={{ blockSize: size, inlineSize: square ? size : widthOf(item, size) }}
      data-testid="file-thumb"
      data-picture={src !== null && src !== broken ? true : undefined}
    >
      {src !== null && src !== broken ? (
        <img
          src={src}
          alt=""
          loading="lazy"
          decoding="async"
          draggable={false}
          onError={() => {
            setBroken(src)
            if (item.path !== undefined) distrust(item.path)
          }}
        />
      ) : (
        <>
          <FileIcon item={item} size={Math.min(40, Math.max(14, Math.round(size * 0.45)))} />
          {size >= 40 && ending !== '' && <span className={styles.ending}>{ending}</span>}
        </>
      )}
    </span>
  )
}

/** Width of a thumbnail in pixels, between half and double its height. */
export function widthOf({ width, height, mimetype }: AttachmentItem, size: number): number {
  if (!width || !height || !mimetype.startsWith('image/')) return size
  return Math.round(size * Math.min(1.8, Math.max(0.6, width / height)))
}

/** URL of the smallest thumbnail that is sharp at a size in pixels; null if the file has no picture. */
export function sourceOf(
  { mimetype, size: bytes }: AttachmentItem,
  { url, thumbnails }: SignedFile,
  size: number,
): string | null {
  const pixels = size * Math.min(2, window.devicePixelRatio || 1) * 1.5
  if (thumbnails)
    return pixels <= 64 ? thumbnails.tiny : pixels <= 256 ? thumbnails.small : thumbnails.card_cover
  // SVG in an `<img>` cannot run scripts.
  return mimetype === 'image/svg+xml' && bytes <= MAX_DRAWING ? url : null
}

const MAX_DRAWING = 512 * 1024

const ICONS: Record<FileKind, LucideIcon> = {
  image: FileImage,
  audio: FileMusic,
  video: FileVideoCamera,
  pdf: FileText,
  document: FileText,
  spreadsheet: FileSpreadsheet,
  presentation: Presentation,
  text: FileText,
  archive: FileArchive,
}

/** Icon of a kind of file. */
export function FileIcon({ item, size }: { item: Pick<AttachmentItem, 'mimetype' | 'url'>; size: number }) {
  const kind = fileKind(item.mimetype)
  const Icon = item.url !== undefined ? Link : kind ? ICONS[kind] : File
  return <Icon size={size} aria-hidden />
}

/** The file extension in capitals, such as `PDF`; empty if it is missing or longer than four characters. */
export const endingOf = (title: string): string => /\.(\w{1,4})$/.exec(title)?.[1]?.toUpperCase() ?? ''
