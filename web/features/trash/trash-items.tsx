import { Columns3, Database, Eye, FileText, Paperclip, Table2, Trash2, Undo2, X } from 'lucide-react'
import { useState } from 'react'
import type { Person } from '../../../src/core/model.ts'
import { type ListedTrashItem, type ListedTrashKind, MAX_COUNTED_RECORDS } from '../../../src/core/trash.ts'
import { formatBytes } from '../../attachments/format-bytes.ts'
import { formatNumber } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { Button } from '../../ui/button.tsx'
import { useRowFocus } from '../../ui/use-row-focus.ts'
import lists from '../layout/list-screen.module.css'
import styles from './trash.module.css'
import { purgeItems, restoreDeletion, restoreItems } from './trash-commands.ts'
import { DeletionFacts, TrashRow } from './trash-row.tsx'

export const KINDS: Record<ListedTrashKind, { icon: typeof Table2; label: () => string }> = {
  record: { icon: FileText, label: m.common_records },
  file: { icon: Paperclip, label: m.common_files },
  field: { icon: Columns3, label: m.common_fields },
  view: { icon: Eye, label: m.trash_views },
  table: { icon: Table2, label: m.common_tables },
  base: { icon: Database, label: m.bases_bases },
}

interface ItemsProps {
  items: readonly ListedTrashItem[]
  people: ReadonlyMap<string, Person>
  /** Absent: the user may not empty the trash. */
  empty?: { label: string; run: () => void }
}

/** The items, with what can be done with several of them. */
export function TrashItems({ items, people, empty }: ItemsProps) {
  const [checked, setChecked] = useState<ReadonlySet<string>>(new Set())
  // Limited to the listed items, so that no action affects one that a filter hides.
  const chosen = items.filter((item) => checked.has(keyOf(item)))
  const purgeable = chosen.filter(({ canPurge }) => canPurge)
  const uncheck = () => setChecked(new Set())
  const { list, onRemove } = useRowFocus<HTMLUListElement>(items, '[data-testid="trashed-item"]')
  /** Keeps the place of the first item that goes. */
  const carryOut = async (some: readonly ListedTrashItem[], work: typeof restoreItems): Promise<boolean> => {
    onRemove(items.findIndex((item) => some.includes(item)))
    const isDone = await work(some)
    if (!isDone) onRemove(null)
    return isDone
  }
  const check = (keys: readonly string[], isChecked: boolean) => {
    const next = new Set(checked)
    for (const key of keys) {
      if (isChecked) next.add(key)
      else next.delete(key)
    }
    setChecked(next)
  }
  return (
    <>
      <div className={lists.tools}>
        <label className={styles.checkAll}>
          <input
            type="checkbox"
            checked={chosen.length === items.length}
            onChange={(event) => check(items.map(keyOf), event.target.checked)}
          />
          {chosen.length === 0 ? m.trash_select_all() : m.trash_selected({ count: chosen.length })}
        </label>
        {chosen.length > 0 && (
          <Button
            size="small"
            icon={Undo2}
            onClick={() => void carryOut(chosen, restoreItems).then((isDone) => isDone && uncheck())}
          >
            {m.trash_restore_selected({ count: chosen.length })}
          </Button>
        )}
        {purgeable.length > 0 && (
          <Button
            size="small"
            icon={X}
            onClick={() => void carryOut(purgeable, purgeItems).then((isDone) => isDone && uncheck())}
          >
            {m.trash_delete_forever()}
          </Button>
        )}
        {empty && chosen.length === 0 && (
          <Button size="small" variant="ghost" icon={Trash2} onClick={empty.run}>
            {empty.label}
          </Button>
        )}
      </div>
      <ul ref={list} className={lists.list} data-testid="trash-list">
        {items.map((item, at) => (
          <ItemRow
            key={keyOf(item)}
            item={item}
            isFirst={!isSameDeletion(items[at - 1], item)}
            people={people}
            isChecked={checked.has(keyOf(item))}
            onCheck={(isChecked) => check([keyOf(item)], isChecked)}
            onRestore={() => void carryOut([item], restoreItems)}
            onPurge={() => void carryOut([item], purgeItems)}
          />
        ))}
      </ul>
    </>
  )
}

const keyOf = ({ ref, base }: ListedTrashItem): string => `${base.id} ${JSON.stringify(ref)}`

const isSameDeletion = (before: ListedTrashItem | undefined, item: ListedTrashItem): boolean =>
  before?.base.id === item.base.id &&
  before.table?.id === item.table?.id &&
  before.deletion?.changeId === item.deletion?.changeId

interface ItemRowProps {
  item: ListedTrashItem
  /** First of the records deleted together: a row above it restores all of them. */
  isFirst: boolean
  people: ReadonlyMap<string, Person>
  isChecked: boolean
  onCheck: (isChecked: boolean) => void
  onRestore: () => void
  onPurge: () => void
}

function ItemRow({ item, isFirst, people, isChecked, onCheck, onRestore, onPurge }: ItemRowProps) {
  const { icon: Icon, label } = KINDS[item.ref.kind]
  const person = item.deletedBy === null ? undefined : people.get(item.deletedBy)
  const { base, deletion, file, table } = item
  const place = item.ref.kind !== 'base' && (
    <>
      <Place icon={Database} label={m.common_base()} title={base.title} />
      {table && <Place icon={Table2} label={m.common_table()} title={table.title} />}
    </>
  )
  return (
    <>
      {isFirst && table && deletion && deletion.records > 1 && (
        <li className={lists.row} data-testid="trashed-together">
          <div className={lists.text}>
            <strong>
              {deletion.records > MAX_COUNTED_RECORDS
                ? m.trash_more_records_deleted_together({ count: formatNumber(MAX_COUNTED_RECORDS) })
                : m.trash_records_deleted_together({ count: deletion.records })}
            </strong>
            <p className={lists.facts}>
              {place}
              <DeletionFacts at={item.deletedAt} person={person} />
            </p>
          </div>
          <Button
            size="small"
            icon={Undo2}
            onClick={() => void restoreDeletion(base.id, table, deletion.changeId)}
          >
            {m.trash_restore_all()}
          </Button>
        </li>
      )}
      <TrashRow
        title={item.title}
        icon={<Icon size={18} aria-label={label()} />}
        isChecked={isChecked}
        onCheck={onCheck}
        place={
          <>
            {place}
            {file && (
              <span dir="auto">{m.trash_file_place({ field: file.field, record: file.recordId })}</span>
            )}
            {file && file.size > 0 && <span>{formatBytes(file.size)}</span>}
          </>
        }
        deletedAt={item.deletedAt}
        deletedBy={person}
        expiresAt={item.expiresAt}
        onRestore={onRestore}
        onPurge={item.canPurge ? onPurge : undefined}
      >
        {item.preview && item.preview.length > 0 && (
          <p className={lists.values}>
            {item.preview.map(({ title, text }) => (
              <span key={title} dir="auto">
                <b>{title}</b> {text}
              </span>
            ))}
          </p>
        )}
      </TrashRow>
    </>
  )
}

/** The base or table that an item was in. */
function Place({ icon: Icon, label, title }: { icon: typeof Table2; label: string; title: string }) {
  return (
    <span className={styles.place} data-tip={title} data-tip-clipped>
      <Icon size={12} aria-label={label} />
      <bdi>{title}</bdi>
    </span>
  )
}
