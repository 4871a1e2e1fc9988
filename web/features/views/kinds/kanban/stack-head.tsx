import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ChevronDown, ChevronRight, Plus } from 'lucide-react'
import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react'
import { linkOf } from '../../../../../src/core/fields/link-options.ts'
import { shownText } from '../../../../cells/index.ts'
import { linksIn, titleOf } from '../../../../cells/link-value.ts'
import { usePeople } from '../../../../cells/people-context.ts'
import { PersonName } from '../../../../cells/person-name.tsx'
import { Pill } from '../../../../cells/pill.tsx'
import { formatNumber } from '../../../../i18n.ts'
import { m } from '../../../../messages.gen.ts'
import type { StackBy, StackKey } from '../../../../records/layouts/stack-by.ts'
import type { StacksLayout } from '../../../../records/layouts/stacks-layout.ts'
import type { RecordStore } from '../../../../records/record-store.ts'
import { onChange } from '../../../../socket.ts'
import { api } from '../../../../trpc.ts'
import { IconButton } from '../../../../ui/button.tsx'
import { shortcutLabel } from '../../../../ui/shortcuts.ts'
import { Skeleton } from '../../../../ui/states.tsx'
import { relatedTable } from '../../../records/commands/link-reads.ts'
import styles from './kanban.module.css'
import { useKanbanContext } from './kanban-context.ts'
import type { Stack } from './stacks.ts'

interface StackHeadProps {
  stack: Stack
  /** Null while it is not known. */
  count: number | null
}

/** Header of a stack: title, number of cards and menu. */
export function StackHead({ stack, count }: StackHeadProps) {
  const { layout, mayAdd, titleOf, summaryOf, onStackMenu, onAdd, onExpand } = useKanbanContext()
  const { key, isCollapsed } = stack
  const { button, isActive } = useHeadFocus(stack)
  const title = titleOf(key)
  const summary = isCollapsed ? null : summaryOf(stack)
  const name = [
    title,
    ...(count === null ? [] : [m.common_records_count({ count })]),
    ...(summary ? [`${summary.label} ${summary.value}`] : []),
  ].join(', ')
  return (
    <header className={styles.head} data-stack-grip>
      <button
        ref={button}
        type="button"
        tabIndex={isActive ? 0 : -1}
        className={styles.headButton}
        data-stack-head
        data-testid="stack-head"
        aria-haspopup={isCollapsed ? undefined : 'menu'}
        aria-expanded={isCollapsed ? false : undefined}
        onClick={(event) => (isCollapsed ? onExpand(key) : onStackMenu(key, event.currentTarget))}
      >
        <span className="visually-hidden">{name}</span>
        {isCollapsed && <ChevronRight size={14} className="flip-in-rtl" aria-hidden />}
        <span className={styles.name} aria-hidden>
          <StackName stack={stack} by={layout.by} title={title} />
        </span>
        <span className={styles.count} data-testid="stack-count" aria-hidden>
          {count === null ? <Skeleton width={18} height={12} /> : formatNumber(count)}
        </span>
        {!isCollapsed && <ChevronDown size={14} className={styles.caret} aria-hidden />}
      </button>
      {!isCollapsed && mayAdd(key) && (
        <IconButton
          icon={Plus}
          size="small"
          tabIndex={-1}
          data-interactive
          label={m.kanban_new_record_in_stack({ stack: title })}
          shortcut={shortcutLabel('alt+r')}
          onClick={() => onAdd(key, 'top')}
        />
      )}
      {summary && (
        <span className={styles.summary} data-testid="stack-summary">
          {summary.label} <strong>{summary.value}</strong>
        </span>
      )}
    </header>
  )
}

function useHeadFocus({ key }: Stack) {
  const { focus } = useKanbanContext()
  const button = useRef<HTMLButtonElement>(null)
  const isActive = useSyncExternalStore(focus.subscribe, () => focus.isAt(key, null))
  useEffect(() => {
    if (isActive && focus.takeFocus()) button.current?.focus({ preventScroll: true })
  })
  return { button, isActive }
}

/** Titles of linked records by key. */
export type RecordNames = ReadonlyMap<string, string>

const NO_NAMES: RecordNames = new Map()

/** Reads the names of the records that the stacks represent, in one request. */
export function useRecordNames(by: StackBy, keys: readonly StackKey[]): RecordNames {
  const tableId = by.kind === 'record' ? (linkOf(by.field)?.relatedTableId ?? '') : ''
  const ids = keys.filter((key) => key !== null)
  const { data, refetch } = useQuery<RecordNames>({
    queryKey: ['kanban-stack-names', tableId, ...ids],
    queryFn: ({ signal }) => readNames(by, tableId, ids, signal),
    enabled: tableId !== '' && ids.length > 0,
    placeholderData: keepPreviousData,
    staleTime: 10_000,
    // A shared page may not read the other table: the links of the cards name it then.
    retry: false,
  })
  useEffect(
    () => onChange((change) => void (tableId !== '' && change.tableIds.includes(tableId) && refetch())),
    [tableId, refetch],
  )
  return data ?? NO_NAMES
}

async function readNames(
  { keyField }: StackBy,
  tableId: string,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<RecordNames> {
  const { fields } = await relatedTable(tableId)
  const display = fields.find((field) => field.isDisplay)
  if (!display) return NO_NAMES
  const recordIds = keys.map((key) => (keyField.options.isText === true ? key : Number(key)))
  const query = { tableId, recordIds, fieldIds: [display.id], sorts: [], limit: recordIds.length, offset: 0 }
  const page = await api.records.list.query({ query }, { signal })
  return new Map(page.ids.map((id, at) => [String(id), shownText(display, page.rows[at]?.[0] ?? null)]))
}

/** Title of a stack's linked record, read from its first card. */
function linkName({ loaded, by }: StacksLayout, store: RecordStore, key: StackKey): string | undefined {
  const id = loaded.stack(key).segments.idAt(0)
  const row = id === undefined ? undefined : store.row(id)
  const [linked] = linksIn(row?.values(by.field.id) ?? null).records
  return linked && titleOf(linked)
}

/** The name of a stack as text, for menus and announcements. */
export function useStackTitle(
  layout: StacksLayout,
  store: RecordStore,
  names: RecordNames,
): (key: StackKey) => string {
  const { kind } = layout.by
  const people = usePeople()
  return useCallback(
    (key) => {
      if (key === null) return m.kanban_uncategorised()
      if (kind === 'tick') return key === 'true' ? m.common_checked() : m.common_not_checked()
      if (kind === 'person') {
        const person = people.get(key)
        return person ? person.displayName || person.email : m.kanban_former_member()
      }
      if (kind === 'record')
        return names.get(key) || linkName(layout, store, key) || m.common_record_id({ id: key })
      return key
    },
    [layout, store, kind, people, names],
  )
}

/** The title of a stack drawn by its field type: an option as a pill, a person with an avatar. */
export function StackName({ stack, by, title }: { stack: Stack; by: StackBy; title: string }) {
  const { key, choice } = stack
  if (by.kind === 'option' && key !== null) return <Pill title={key} choice={choice ?? undefined} />
  if (by.kind === 'person' && key !== null) return <PersonName id={key} tableId={by.field.tableId} />
  return (
    <bdi data-plain data-tip={title} data-tip-clipped>
      {title}
    </bdi>
  )
}
