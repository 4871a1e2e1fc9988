import {
  type KeyboardEvent,
  type ReactNode,
  useImperativeHandle,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import type { AttachmentOptions } from '../../src/core/fields/attachment.ts'
import {
  type AttachmentItem,
  readAttachments,
  writeAttachments,
} from '../../src/core/fields/attachment-item.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { addFiles } from '../attachments/add-files.tsx'
import { FileList } from '../attachments/file-list.tsx'
import type { FileTarget } from '../attachments/file-target.ts'
import { FileThumb } from '../attachments/file-thumb.tsx'
import { withKeys } from '../attachments/with-keys.ts'
import { ControlGroup } from '../ui/composite.tsx'
import { Popover } from '../ui/overlays.ts'
import { toast } from '../ui/toast.ts'
import styles from './attachment.module.css'
import type { EditorProps } from './cell.ts'

/**
 * The list of a cell's files: over the grid as a popup, in an open record in its place. Each change is
 * stored at once, so leaving it stores nothing more.
 */
export function AttachmentEditor(props: EditorProps<AttachmentOptions>): ReactNode {
  const { field, variant, ref, label, value } = props
  const target = useTarget(props)
  const stored = useSyncExternalStore(target.subscribe, target.current)
  const items = readAttachments((stored === undefined ? value : stored) ?? null)
  const box = useRef<HTMLDivElement>(null)
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  useImperativeHandle(ref, () => ({
    read: () => ({ ok: true, value }),
    focus: () => box.current?.querySelector<HTMLElement>('button')?.focus(),
  }))
  const change = (next: AttachmentItem[]) => target.write(writeAttachments(next))
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
        onChange={change}
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

/** Pixels of the thumbnails in a row of this height: as they stood before the list opened. */
const heightFor = (box: HTMLElement | null): number =>
  [106, 76, 46].find((height) => height + 10 <= (box?.parentElement?.clientHeight ?? 0)) ?? 22

/** Enter presses a button and Tab goes to the next; only Escape is for what the list lies in. */
function keepKeys(event: KeyboardEvent): void {
  if (event.key !== 'Escape') event.stopPropagation()
}

/** The cell; where nobody keeps it (a value for many records) what is changed here is handed over at once. */
function useTarget({ files, field, value, change }: EditorProps<AttachmentOptions>): FileTarget {
  const latest = useRef({ value, change })
  latest.current = { value, change }
  const [own] = useState<FileTarget>(() => {
    const current = (): CellValue => latest.current.value
    return {
      key: `own ${crypto.randomUUID()}`,
      field,
      current,
      subscribe: () => () => {},
      latest: async () => current(),
      write: (next) => latest.current.change(next),
      refused: (reason) => toast.error({ text: reason }),
    }
  })
  // A new object with each drawing of the owner, but the same cell.
  const kept = useRef(files)
  if (files?.key !== kept.current?.key) kept.current = files
  return kept.current ?? own
}
