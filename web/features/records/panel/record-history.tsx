import { ArrowRight, History, RotateCcw } from 'lucide-react'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import { linkOf } from '../../../../src/core/fields/link-options.ts'
import { isSecret } from '../../../../src/core/fields/traits.ts'
import type { Field, Person, RecordId } from '../../../../src/core/model.ts'
import { formatAgo, localeTag } from '../../../i18n.ts'
import { m } from '../../../messages.gen.ts'
import { refetchPages } from '../../../read-again.ts'
import { type Outputs, trpc } from '../../../trpc.ts'
import { Avatar } from '../../../ui/avatar.tsx'
import { Button, IconButton } from '../../../ui/button.tsx'
import { QueryError, Skeleton } from '../../../ui/states.tsx'
import { can, fieldOf, isWritable, type TableContext } from '../context/table-context.ts'
import { LinkChange, Value } from './changed-value.tsx'
import styles from './record-panel.module.css'
import { useRefetchOnData } from './refetch-on-data.ts'
import { openRestoreVersion } from './restore-version.tsx'

type Entry = Outputs['records']['history']['entries'][number]

/** Page size; a shorter page is the last. */
const PAGE = 50

/** History of a record: author, time, changed values, and a button that restores a value. */
export function RecordHistory({ context, recordId }: { context: TableContext; recordId: RecordId }) {
  const tableId = context.schema.table.id
  const history = trpc.records.history.useInfiniteQuery(
    { tableId, recordId },
    {
      staleTime: 0,
      getNextPageParam: ({ entries }) => (entries.length === PAGE ? entries.at(-1)?.id : undefined),
    },
  )
  useRefetchOnData(context, () => refetchPages(history))
  const pages = history.data?.pages ?? []
  if (history.error && !history.data) {
    return <QueryError title={m.records_history_load_failed()} query={history} />
  }
  const entries = pages.flatMap((page) => page.entries)
  const people = new Map(
    [...context.people, ...pages.flatMap((page) => page.people)].map((person) => [person.id, person]),
  )
  return (
    <div className={styles.body} aria-busy={history.isPending || undefined}>
      {history.isPending && <Skeleton height={60} />}
      {!history.isPending && entries.length === 0 && (
        <p className={styles.gone}>{m.records_no_changes_yet()}</p>
      )}
      <ol className={styles.history}>
        {entries.map((entry) => (
          <HistoryEntry
            key={entry.id}
            entry={entry}
            people={people}
            context={context}
            recordId={recordId}
            isNewest={entry === entries[0] && entry.kind !== 'records.delete'}
          />
        ))}
      </ol>
      {history.hasNextPage && (
        <Button size="small" busy={history.isFetchingNextPage} onClick={() => void history.fetchNextPage()}>
          {m.records_show_older()}
        </Button>
      )}
    </div>
  )
}

interface HistoryEntryProps {
  entry: Entry
  people: ReadonlyMap<string, Person>
  context: TableContext
  recordId: RecordId
  /** True for the version that the record has now. */
  isNewest: boolean
}

function HistoryEntry({ entry, people, context, recordId, isNewest }: HistoryEntryProps) {
  const person = entry.actorId ? people.get(entry.actorId) : undefined
  const at = new Date(entry.at)
  return (
    <li className={styles.entry} data-testid="history-entry">
      {person ? <Avatar person={person} size={24} /> : <span className={styles.nobody} />}
      <div className={styles.story}>
        <p>
          <strong dir="auto">{person ? person.displayName || person.email : m.records_someone()}</strong>{' '}
          {kindText(entry)}{' '}
          <time dateTime={entry.at} className={styles.when} data-tip={at.toLocaleString(localeTag())}>
            {formatAgo(entry.at)}
          </time>
          {!isNewest && can(context, 'record.restore') && (
            <IconButton
              icon={History}
              size="small"
              iconSize={13}
              label={m.records_restore_version()}
              onClick={() => openRestoreVersion({ context, recordId, entryId: entry.id })}
            />
          )}
        </p>
        {entry.changes.map((change) => {
          const field = fieldOf(context, change.fieldId)
          if (!field || (change.before === null && change.after === null)) return null
          if (linkOf(field)) return <LinkChange key={change.fieldId} field={field} value={change.after} />
          return (
            <div key={change.fieldId} className={styles.change}>
              <span className={styles.changed} dir="auto">
                {field.title}
              </span>
              <Value field={field} value={change.before} isOld />
              <ArrowRight size={12} className="flip-in-rtl" aria-label={m.records_changed_to()} />
              <Value field={field} value={change.after} />
              {can(context, 'record.update') && isWritable(field) && isKnown(field, change.before) && (
                <IconButton
                  icon={RotateCcw}
                  size="small"
                  iconSize={13}
                  label={m.records_restore_previous_value_of_field({ field: field.title })}
                  onClick={() =>
                    void context.store.writeRows([{ id: recordId, values: { [field.id]: change.before } }])
                  }
                />
              )}
            </div>
          )
        })}
      </div>
    </li>
  )
}

function kindText({ kind, isNew }: Pick<Entry, 'kind' | 'isNew'>): string {
  switch (kind) {
    case 'records.insert':
      return m.records_created_the_record()
    case 'records.import':
      return isNew ? m.records_imported_the_record() : m.records_changed_by_an_import()
    case 'records.delete':
      return m.records_deleted_the_record()
    case 'records.rewind':
      return m.records_restored_a_version()
    case 'records.move':
      return m.records_moved_the_record()
    case 'undo':
      return m.records_undid_a_change()
    case 'redo':
      return m.records_redid_a_change()
    default:
      return m.records_changed()
  }
}

/** False for a password, of which the history has only the mask. */
const isKnown = (field: Field, value: CellValue): boolean => value === null || !isSecret(field)
