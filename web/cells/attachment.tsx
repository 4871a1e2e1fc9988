import { Maximize2, Paperclip } from 'lucide-react'
import { type ReactNode, useMemo } from 'react'
import { type AttachmentOptions, attachment } from '../../src/core/fields/attachment.ts'
import { readAttachments } from '../../src/core/fields/attachment-item.ts'
import { FileThumb, widthOf } from '../attachments/file-thumb.tsx'
import { openViewer } from '../attachments/open-viewer.tsx'
import { withKeys } from '../attachments/with-keys.ts'
import { m } from '../messages.gen.ts'
import styles from './attachment.module.css'
import { AttachmentEditor } from './attachment-editor.tsx'
import { defineCell, type ViewProps } from './cell.ts'

/** Files as small pictures; a list of them to add to, rename and order; each in large on demand. */
export const attachmentCell = defineCell(attachment, {
  Icon: Paperclip,
  isShape: true,
  align: 'start',
  minWidth: 80,
  extraWidth: 60,
  takesFiles: true,
  View: Files,
  Editor: AttachmentEditor,
  open(value, field) {
    const items = readAttachments(value)
    openViewer(field.tableId, items)
    return items.length > 0
  },
})

/** Pixels of a thumbnail by the lines that a row has room for. */
const HEIGHTS: Record<number, number> = { 1: 22, 3: 46, 4: 76, 6: 106 }
const RECORD_HEIGHT = 96
const GAP_PX = 4
const MORE_PX = 34

function Files({ value, field, lines, width, variant }: ViewProps<AttachmentOptions>): ReactNode {
  const items = useMemo(() => readAttachments(value), [value])
  if (items.length === 0) return null
  const height = variant === 'record' ? RECORD_HEIGHT : (HEIGHTS[lines] ?? HEIGHTS[1] ?? 22)
  const widths = items.map((item) => widthOf(item, height))
  const fitting = width === null ? items.length : countFitting(widths, width)
  const [only] = items
  // A sign alone says little: of a single file the name stands beside it, where there is room.
  const isNamed = items.length === 1 && width !== null && width - (widths[0] ?? 0) > 60
  const names = items.map(({ title }) => title).join('\n')
  return (
    <span className={styles.files} data-variant={variant} title={variant === 'grid' ? names : undefined}>
      {withKeys(items.slice(0, fitting)).map(({ key, item, at }) => {
        const label = variant === 'grid' && !isNamed ? item.title : undefined
        const thumb = <FileThumb item={item} tableId={field.tableId} size={height} label={label} />
        if (variant === 'grid') return <span key={key}>{thumb}</span>
        return (
          <button
            key={key}
            type="button"
            className={styles.open}
            aria-label={m.cells_open_name({ name: item.title })}
            title={item.title}
            onClick={() => openViewer(field.tableId, items, at)}
          >
            {thumb}
          </button>
        )
      })}
      {isNamed && only && variant === 'grid' && (
        <span className={styles.name} dir="auto">
          {only.title}
        </span>
      )}
      {fitting < items.length && (
        <span className={styles.more} dir="ltr">
          +{items.length - fitting}
        </span>
      )}
      {variant === 'grid' && (
        <button
          type="button"
          tabIndex={-1}
          className={styles.expand}
          data-interactive
          aria-label={m.cells_expand_attachments()}
          title={m.cells_expand_attachments()}
          // The press is not one on the cell.
          onPointerDown={(event) => event.stopPropagation()}
          onClick={() => openViewer(field.tableId, items)}
        >
          <Maximize2 size={12} aria-hidden />
        </button>
      )}
    </span>
  )
}

function countFitting(widths: readonly number[], room: number): number {
  let used = 0
  for (const [index, width] of widths.entries()) {
    const isLast = index === widths.length - 1
    used += width + GAP_PX
    if (used - GAP_PX > room - (isLast ? 0 : MORE_PX) && index > 0) return index
  }
  return widths.length
}
