import { Maximize2, Paperclip } from 'lucide-react'
import {
  type KeyboardEvent,
  type ReactNode,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { type AttachmentOptions, attachment } from '../../src/core/fields/attachment.ts'
import { readAttachments } from '../../src/core/fields/attachment-item.ts'
import { addFiles } from '../attachments/add-files.tsx'
import type { FileTarget } from '../attachments/file-target.ts'
import { FileThumb, widthOf } from '../attachments/file-thumb.tsx'
import { openViewer } from '../attachments/open-viewer.tsx'
import { withKeys } from '../attachments/with-keys.ts'
import { m } from '../messages.gen.ts'
import { preloadAfterContent } from '../navigation/after-content.ts'
import { lazyPart } from '../navigation/lazy-screen.ts'
import { ControlGroup } from '../ui/composite.tsx'
import { Popover } from '../ui/overlays.ts'
import styles from './attachment.module.css'
import { defineCell, type EditorProps, type ViewProps } from './cell.ts'
import { HiddenCount } from './hidden-count.tsx'

const FileList = lazyPart(() => import('../attachments/file-list.tsx'), 'FileList')
preloadAfterContent(FileList)

/** Files as thumbnails; the editor lists them to add, rename, reorder and open. */
export const attachmentCell = defineCell(attachment, {
  Icon: Paperclip,
  isShape: true,
  align: 'start',
  minWidth: 80,
  extraWidth: 60,
  takesFiles: true,
  View: Files,
  Editor: (props) => (props.files ? <AttachmentEditor {...props} files={props.files} /> : null),
  open(value, field) {
    const items = readAttachments(value)
    openViewer(field.tableId, items)
    return items.length > 0
  },
})

/** Thumbnail size in pixels by row height in lines. */
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
  // A single file shows its name beside the thumbnail if there is room.
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
      {fitting < items.length && <HiddenCount count={items.length - fitting} />}
      {variant === 'grid' && (
        <button
          type="button"
          tabIndex={-1}
          className={styles.expand}
          data-interactive
          aria-label={m.cells_expand_attachments()}
          title={m.cells_expand_attachments()}
          // Keep the grid from handling this press.
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

/** List of a cell's files: a popup over the grid, inline in an open record. Each change is stored at once. */
function AttachmentEditor(props: EditorProps<AttachmentOptions> & { files: FileTarget }): ReactNode {
  const { field, variant, ref, label, value, files } = props
  // The owner creates a new object per render, but for the same cell.
  const kept = useRef(files)
  if (files.key !== kept.current.key) kept.current = files
  const target = kept.current
  const stored = useSyncExternalStore(target.subscribe, target.current)
  const items = readAttachments((stored === undefined ? value : stored) ?? null)
  const box = useRef<HTMLDivElement>(null)
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  useImperativeHandle(ref, () => ({
    read: () => ({ ok: true, value }),
    focus: () => box.current?.querySelector<HTMLElement>('button')?.focus(),
  }))
  const list = (
    <ControlGroup ref={box} onKeyDown={keepKeys} data-cell-popover>
      <FileList
        tableId={field.tableId}
        items={items}
        kinds={props.options.kinds}
        uploadKey={target.key}
        label={label}
        id={props.id}
        size={variant === 'grid' ? 'small' : 'large'}
        onChange={target.edit}
        onAdd={(sources) => addFiles(target, sources)}
      />
    </ControlGroup>
  )
  if (variant === 'record') return list
  return (
    <div className={styles.cellEditor} ref={setAnchor}>
      <span className={styles.files}>
        {withKeys(items.slice(0, 3)).map(({ key, item }) => (
          <FileThumb key={key} item={item} tableId={field.tableId} size={heightFor(anchor)} />
        ))}
      </span>
      {anchor && (
        <Popover anchor={anchor} onClose={props.cancel} label={label} className={styles.popover}>
          {list}
        </Popover>
      )}
    </div>
  )
}

/** Thumbnail size in a row of this height, measured before the list opened. */
const heightFor = (box: HTMLElement | null): number =>
  [106, 76, 46].find((height) => height + 10 <= (box?.parentElement?.clientHeight ?? 0)) ?? 22

/** Enter presses buttons and Tab moves between them; only Escape goes to the owner. */
function keepKeys(event: KeyboardEvent): void {
  if (event.key !== 'Escape') event.stopPropagation()
}
