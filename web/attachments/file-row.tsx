import { Download, GripVertical, Pencil, X } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import type { AttachmentItem } from '../../src/core/fields/attachment-item.ts'
import { m } from '../messages.gen.ts'
import { IconButton } from '../ui/button.tsx'
import { focusOnMount } from '../ui/composite.tsx'
import { useSortableItem } from '../ui/sortable.tsx'
import { downloadFile } from './download.ts'
import styles from './file-row.module.css'
import { FileThumb } from './file-thumb.tsx'
import { formatBytes } from './format-bytes.ts'
import { openViewer } from './open-viewer.tsx'

interface FileRowProps {
  id: string
  tableId: string
  items: AttachmentItem[]
  at: number
  size: 'small' | 'large'
  onRename: (title: string) => void
  onRemove: () => void
  onMove: (by: 1 | -1) => void
}

/** One file of a cell: opens in large, is renamed, moved, saved and taken away. */
export function FileRow({ id, tableId, items, at, size, onRename, onRemove, onMove }: FileRowProps) {
  const { ref, style, listeners } = useSortableItem(id)
  const [isRenaming, setRenaming] = useState(false)
  const item = items[at]
  if (!item) return null
  const { title } = item
  return (
    <li ref={ref} style={style} className={styles.row} data-testid="file-row" data-size={size}>
      {items.length > 1 && (
        <button
          type="button"
          className={styles.grip}
          aria-label={m.attachments_move_name_drag_use_arrow({ name: title })}
          data-tip={m.common_drag_to_move()}
          {...listeners}
          onKeyDown={(event) => {
            const by = { ArrowUp: -1, ArrowDown: 1 }[event.key]
            if (by !== 1 && by !== -1) return
            event.preventDefault()
            onMove(by)
          }}
        >
          <GripVertical size={14} aria-hidden />
        </button>
      )}
      <button
        type="button"
        className={styles.thumb}
        aria-label={m.attachments_open_name({ name: title })}
        onClick={() => openViewer(tableId, items, at)}
      >
        <FileThumb item={item} tableId={tableId} size={size === 'small' ? 36 : 72} square />
      </button>
      {isRenaming ? (
        <RenameInput
          title={title}
          onDone={(next) => {
            setRenaming(false)
            if (next !== null && next !== title) onRename(next)
          }}
        />
      ) : (
        <span className={styles.words}>
          <span className={styles.name} dir="auto" title={title}>
            {title}
          </span>
          <small className={styles.size}>
            {item.url === undefined ? formatBytes(item.size) : m.common_link()}
          </small>
        </span>
      )}
      <IconButton
        icon={Pencil}
        size="small"
        iconSize={14}
        label={m.attachments_rename_name({ name: title })}
        onClick={() => setRenaming(true)}
      />
      {item.url === undefined && (
        <IconButton
          icon={Download}
          size="small"
          iconSize={14}
          label={m.attachments_download_name({ name: title })}
          onClick={() => void downloadFile(tableId, item)}
        />
      )}
      <IconButton
        icon={X}
        size="small"
        iconSize={14}
        label={m.common_remove_name({ name: title })}
        onClick={onRemove}
      />
    </li>
  )
}

/** The name without its ending, which says what the file is and stays. */
function RenameInput({ title, onDone }: { title: string; onDone: (title: string | null) => void }) {
  const ending = /\.\w{1,10}$/.exec(title)?.[0] ?? ''
  const base = title.slice(0, title.length - ending.length)
  const [text, setText] = useState(base)
  const done = () => {
    const clean = text.replace(/[\\/]/g, '-').trim()
    onDone(clean === '' ? null : clean + ending)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Enter') done()
    if (event.key === 'Escape') {
      // This alone is left, not the list around it.
      event.preventDefault()
      event.stopPropagation()
      onDone(null)
    }
  }
  return (
    <span className={styles.rename}>
      <input
        ref={focusOnMount}
        dir="auto"
        aria-label={m.attachments_name_of_name({ name: title })}
        value={text}
        maxLength={240}
        onFocus={(event) => event.target.select()}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        onBlur={done}
      />
      <span>{ending}</span>
    </span>
  )
}
