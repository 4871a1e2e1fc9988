import { Camera, Download, GripVertical, Link, Pencil, Upload as UploadIcon, X } from 'lucide-react'
import { type ClipboardEvent, type DragEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { type AttachmentItem, isWebAddress } from '../../src/core/fields/attachment-item.ts'
import type { FileKind } from '../../src/core/fields/attachment-kinds.ts'
import { m } from '../messages.gen.ts'
import { isVisitorPage } from '../session/visitor.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { focusOnMount } from '../ui/composite.tsx'
import { moveBefore, SortableList, useSortableItem } from '../ui/sortable.tsx'
import { downloadAll, downloadFile } from './download.ts'
import styles from './file-list.module.css'
import fileRow from './file-row.module.css'
import type { FilesChange } from './file-target.ts'
import { FileThumb } from './file-thumb.tsx'
import { formatFileSize } from './format-bytes.ts'
import { acceptOf } from './limits.ts'
import { openViewer } from './open-viewer.tsx'
import type { FileSource } from './send-file.ts'
import { UploadLine } from './upload-line.tsx'
import { attend, useUploads } from './uploads.ts'
import { withKeys } from './with-keys.ts'

interface FileListProps {
  tableId: string
  items: AttachmentItem[]
  kinds: readonly FileKind[]
  /** The cell's uploads. */
  uploadKey: string
  /** The field's title. */
  label: string
  id?: string
  size: 'small' | 'large'
  onChange: (change: FilesChange) => void
  onAdd: (sources: FileSource[]) => void
}

/** The files of a cell with their operations, and running uploads. */
export function FileList(props: FileListProps) {
  const { tableId, items, kinds, uploadKey, label, id, size, onChange, onAdd } = props
  const uploads = useUploads(uploadKey)
  useEffect(() => attend(uploadKey), [uploadKey])
  const chooser = useRef<HTMLInputElement>(null)
  const camera = useRef<HTMLInputElement>(null)
  const [asksUrl, setAsksUrl] = useState(false)
  const [isOver, setIsOver] = useState(false)
  const identified = withIds(items)
  const takesPictures = kinds.length === 0 || kinds.includes('image')
  const add = (files: FileList_) => {
    if (files && files.length > 0) onAdd([...files].map((file) => ({ file })))
  }
  const choose = (input: HTMLInputElement) => {
    add(input.files)
    // Allows choosing the same file again.
    input.value = ''
  }

  return (
    <section
      className={styles.box}
      aria-label={m.attachments_files_in_field({ field: label })}
      data-size={size}
      data-over={isOver || undefined}
      data-testid="file-list"
      onDragOver={(event: DragEvent) => {
        if (!event.dataTransfer.types.includes('Files')) return
        event.preventDefault()
        event.stopPropagation()
        setIsOver(true)
      }}
      onDragLeave={(event: DragEvent) => {
        const { currentTarget, relatedTarget } = event
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) setIsOver(false)
      }}
      onDrop={(event: DragEvent) => {
        setIsOver(false)
        if (event.dataTransfer.files.length === 0) return
        event.preventDefault()
        event.stopPropagation()
        add(event.dataTransfer.files)
      }}
      onPaste={(event: ClipboardEvent) => {
        if (event.clipboardData.files.length === 0) return
        event.preventDefault()
        event.stopPropagation()
        add(event.clipboardData.files)
      }}
    >
      <div className={styles.tools}>
        <Button
          id={id}
          size="small"
          icon={UploadIcon}
          data-autofocus
          onClick={() => chooser.current?.click()}
        >
          {m.attachments_add_files()}
        </Button>
        {/* The server fetches for those alone whom it knows. */}
        {!isVisitorPage && (
          <IconButton
            icon={Link}
            size="small"
            label={m.attachments_add_from_url()}
            aria-expanded={asksUrl}
            onClick={() => setAsksUrl(!asksUrl)}
          />
        )}
        {takesPictures && (
          <span className={styles.camera}>
            <IconButton
              icon={Camera}
              size="small"
              label={m.attachments_take_photo()}
              onClick={() => camera.current?.click()}
            />
          </span>
        )}
        {items.length > 1 && (
          <IconButton
            icon={Download}
            size="small"
            label={m.attachments_download_all()}
            className={styles.last}
            onClick={() => void downloadAll(tableId, items)}
          />
        )}
      </div>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        accept={acceptOf(kinds)}
        aria-label={m.attachments_add_files()}
        data-testid="file-input"
        onChange={(event) => choose(event.target)}
      />
      <input
        ref={camera}
        type="file"
        hidden
        accept="image/*"
        capture="environment"
        aria-label={m.attachments_take_photo()}
        onChange={(event) => choose(event.target)}
      />
      {asksUrl && (
        <AddByUrl
          onAdd={(url) => {
            setAsksUrl(false)
            onAdd([{ url }])
          }}
          onCancel={() => setAsksUrl(false)}
        />
      )}
      {items.length === 0 && uploads.length === 0 && (
        <p className={styles.empty}>{m.attachments_drop_paste_or_browse_files()}</p>
      )}
      <SortableList
        ids={identified.map((one) => one.id)}
        onMove={(moved, before) =>
          onChange((all) => moveBefore(withIds(all), moved, before).map(({ item }) => item))
        }
      >
        <ul className={styles.list}>
          {identified.map(({ id: fileId }, at) => (
            <FileRow
              key={fileId}
              id={fileId}
              tableId={tableId}
              items={items}
              at={at}
              size={size}
              onRename={(title) =>
                onChange((all) =>
                  withIds(all).map(({ id, item }) => (id === fileId ? { ...item, title } : item)),
                )
              }
              onRemove={() =>
                onChange((all) => withIds(all).flatMap(({ id, item }) => (id === fileId ? [] : [item])))
              }
              onMove={(by) => onChange((all) => moveTo(all, fileId, at + by))}
            />
          ))}
        </ul>
      </SortableList>
      {uploads.length > 0 && (
        <ul className={styles.list} aria-label={m.attachments_uploads()}>
          {uploads.map((upload) => (
            <UploadLine key={upload.id} upload={upload} />
          ))}
        </ul>
      )}
    </section>
  )
}

/** Files from a file input, a drop or the clipboard. */
type FileList_ = globalThis.FileList | null

/** Files with ids that they keep when others are added, removed or moved. */
const withIds = (items: readonly AttachmentItem[]) =>
  withKeys(items).map(({ key, item }) => ({ id: key, item }))

function moveTo(items: AttachmentItem[], id: string, to: number): AttachmentItem[] {
  const from = withIds(items).findIndex((one) => one.id === id)
  const item = items[from]
  if (!item || to < 0 || to >= items.length) return items
  return items.toSpliced(from, 1).toSpliced(to, 0, item)
}

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

/** A file of a cell, with operations to view, rename, move, download and remove it. */
export function FileRow({ id, tableId, items, at, size, onRename, onRemove, onMove }: FileRowProps) {
  const { ref, style, listeners } = useSortableItem(id)
  const [isRenaming, setRenaming] = useState(false)
  const item = items[at]
  if (!item) return null
  const { title } = item
  return (
    <li ref={ref} style={style} className={fileRow.row} data-testid="file-row" data-size={size}>
      {items.length > 1 && (
        <button
          type="button"
          className={fileRow.grip}
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
        className={fileRow.thumb}
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
        <span className={fileRow.words}>
          <span className={fileRow.name} dir="auto" title={title}>
            {title}
          </span>
          <small className={fileRow.size}>
            {item.url === undefined ? formatFileSize(item.size) : m.common_link()}
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

/** The name without its extension, which renaming keeps. */
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
      // Leaves only the input, not the surrounding list.
      event.preventDefault()
      event.stopPropagation()
      onDone(null)
    }
  }
  return (
    <span className={fileRow.rename}>
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

/** Input for the URL of a file that the server fetches. */
function AddByUrl({ onAdd, onCancel }: { onAdd: (url: string) => void; onCancel: () => void }) {
  const [url, setUrl] = useState('')
  const [isRefused, setRefused] = useState(false)
  const add = () => {
    const address = url.trim()
    if (isWebAddress(address)) onAdd(address)
    else setRefused(true)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') {
      event.preventDefault()
      add()
    }
    if (event.key === 'Escape') {
      event.preventDefault()
      event.stopPropagation()
      onCancel()
    }
  }
  return (
    <div>
      <div className={styles.urlLine}>
        <input
          ref={focusOnMount}
          type="url"
          className={styles.urlInput}
          placeholder="https://"
          aria-label={m.attachments_file_url()}
          aria-invalid={isRefused || undefined}
          value={url}
          onChange={(event) => {
            setUrl(event.target.value)
            setRefused(false)
          }}
          onKeyDown={onKeyDown}
        />
        <Button size="small" variant="primary" onClick={add}>
          {m.common_add()}
        </Button>
      </div>
      {isRefused && (
        <p className={styles.urlMessage} role="alert">
          {m.attachments_enter_url_starts_http_https()}
        </p>
      )}
    </div>
  )
}
