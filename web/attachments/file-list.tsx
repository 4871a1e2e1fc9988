import { Camera, Download, Link, Upload as UploadIcon } from 'lucide-react'
import { type ClipboardEvent, type DragEvent, useEffect, useRef, useState } from 'react'
import type { AttachmentItem } from '../../src/core/fields/attachment-item.ts'
import type { FileKind } from '../../src/core/fields/attachment-kinds.ts'
import { m } from '../messages.gen.ts'
import { isVisitorPage } from '../session/visitor.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { moveBefore, SortableList } from '../ui/sortable.tsx'
import { AddByUrl } from './add-by-url.tsx'
import { downloadAll } from './download.ts'
import styles from './file-list.module.css'
import { FileRow } from './file-row.tsx'
import { acceptOf } from './limits.ts'
import type { FileSource } from './send-file.ts'
import { UploadLine } from './upload-line.tsx'
import { attend, useUploads } from './uploads.ts'
import { withKeys } from './with-keys.ts'

export interface FileListProps {
  tableId: string
  items: AttachmentItem[]
  kinds: readonly FileKind[]
  /** The cell's uploads. */
  uploadKey: string
  /** The field's title. */
  label: string
  id?: string
  size: 'small' | 'large'
  onChange: (items: AttachmentItem[]) => void
  onAdd: (sources: FileSource[]) => void
}

/** The files of a cell with all that can be done to them, and those that are on their way. */
export function FileList(props: FileListProps) {
  const { tableId, items, kinds, uploadKey, label, id, size, onChange, onAdd } = props
  const uploads = useUploads(uploadKey)
  useEffect(() => attend(uploadKey), [uploadKey])
  const chooser = useRef<HTMLInputElement>(null)
  const camera = useRef<HTMLInputElement>(null)
  const [asksUrl, setAsksUrl] = useState(false)
  const [isOver, setIsOver] = useState(false)
  const keyed = withKeys(items).map(({ key, item }) => ({ id: key, item }))
  const takesPictures = kinds.length === 0 || kinds.includes('image')
  const add = (files: FileList_) => {
    if (files && files.length > 0) onAdd([...files].map((file) => ({ file })))
  }
  const choose = (input: HTMLInputElement) => {
    add(input.files)
    // The same file may be chosen once more.
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
        ids={keyed.map((one) => one.id)}
        onMove={(moved, before) => onChange(moveBefore(keyed, moved, before).map(({ item }) => item))}
      >
        <ul className={styles.list}>
          {keyed.map(({ id: key, item }, at) => (
            <FileRow
              key={key}
              id={key}
              tableId={tableId}
              items={items}
              at={at}
              size={size}
              onRename={(title) => onChange(items.map((one) => (one === item ? { ...one, title } : one)))}
              onRemove={() => onChange(items.filter((one) => one !== item))}
              onMove={(by) => onChange(moved(items, at, at + by))}
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

/** What a chooser, a drop or the clipboard gives. */
type FileList_ = globalThis.FileList | null

function moved(items: AttachmentItem[], from: number, to: number): AttachmentItem[] {
  const item = items[from]
  if (!item || to < 0 || to >= items.length) return items
  return items.toSpliced(from, 1).toSpliced(to, 0, item)
}
