import { ChevronDown, ChevronUp, ListFilter, Search as SearchIcon, X } from 'lucide-react'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { Field, RecordId } from '../../../../src/core/model.ts'
import type { Search } from '../../../../src/core/query.ts'
import { cellText } from '../../../cells/index.ts'
import { messageOf } from '../../../errors.ts'
import { highlightText } from '../../../grid/highlight.ts'
import { formatNumber } from '../../../i18n.ts'
import { m } from '../../../messages.gen.ts'
import { orderOf, selectionOf } from '../../../records/record-order.ts'
import { timeZone } from '../../../time-zone.ts'
import { api } from '../../../trpc.ts'
import { IconButton } from '../../../ui/button.tsx'
import { shortcutLabel } from '../../../ui/shortcuts.ts'
import { toast } from '../../../ui/toast.ts'
import toolbar from '../../views/controls/toolbar.module.css'
import { shownFields } from '../../views/state/arrange-fields.ts'
import styles from '../bars/table-view.module.css'
import type { TableContext } from '../context/table-context.ts'
import { shownRecords } from '../context/table-context.ts'
import { untilRow } from '../context/until-row.ts'

/** Debounce of the search. */
const PAUSE_MS = 250

/** Where and how a view is searched, kept while its search box is closed. */
export interface SearchMode {
  /** Null: all fields. */
  fieldId: string | null
  /** True to show only the hits, false to step through them. */
  filters: boolean
}

export interface SearchBoxProps {
  context: TableContext
  fields: readonly Field[]
  search: Search | null
  onSearch: (search: Search | null) => void
  mode: SearchMode
  onMode: (mode: SearchMode) => void
  onClose: () => void
}

/** Searches records by text, in one or all fields, either as a filter or by stepping through the hits. */
export function SearchBox({ context, fields, search, onSearch, mode, onMode, onClose }: SearchBoxProps) {
  const { fieldId, filters } = mode
  const [text, setText] = useState(search?.text ?? '')
  const [sought, setSought] = useState<Search | null>(search)
  const input = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const total = useRef<number | null>(null)
  const { source } = context.store
  const count = useSyncExternalStore(source.subscribe, () => source.rowCount)
  // The total in "3 of 41" counts the records before the search.
  if (search === null) total.current = count
  const hits = useSearchHits(context, filters ? null : sought)
  useHighlight(sought?.text ?? '')

  useEffect(() => {
    input.current?.select()
    return () => clearTimeout(timer.current)
  }, [])

  function apply(next: Partial<SearchMode> & { text?: string }, pauseMs: number) {
    const all = { text, ...mode, ...next }
    if (all.fieldId !== fieldId || all.filters !== filters) {
      onMode({ fieldId: all.fieldId, filters: all.filters })
    }
    clearTimeout(timer.current)
    const wanted = all.text.trim()
    timer.current = setTimeout(() => {
      const found = wanted === '' ? null : { text: wanted, fieldId: all.fieldId }
      setSought(found)
      onSearch(all.filters ? found : null)
    }, pauseMs)
  }

  function close() {
    onSearch(null)
    onClose()
  }

  function onEnter(isBack: boolean) {
    if (filters || sought?.text !== text.trim()) apply({}, 0)
    else hits.go(isBack ? -1 : 1)
  }

  const found = filters
    ? search && count !== null && { count, of: total.current }
    : sought && hits.count !== null && { count: hits.at === null ? 0 : hits.at + 1, of: hits.count }
  return (
    <search className={styles.search}>
      <SearchIcon size={14} aria-hidden />
      <select
        className={styles.searchField}
        aria-label={m.records_search_in()}
        value={fieldId ?? ''}
        onChange={(event) => {
          apply({ fieldId: event.target.value || null }, 0)
        }}
      >
        <option value="">{m.records_all_fields()}</option>
        {fields.map((field) => (
          <option key={field.id} value={field.id}>
            {field.title}
          </option>
        ))}
      </select>
      <input
        ref={input}
        className={`${toolbar.input} ${styles.searchInput}`}
        dir="auto"
        placeholder={m.common_search()}
        aria-label={m.records_search_this_view()}
        data-testid="search-input"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          apply({ text: event.target.value }, PAUSE_MS)
        }}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return
          if (event.key === 'Escape') {
            event.preventDefault()
            event.stopPropagation()
            close()
          } else if (event.key === 'Enter') onEnter(event.shiftKey)
        }}
      />
      {found && (
        <output className={styles.found} data-testid="search-count">
          {found.of === null
            ? formatNumber(found.count)
            : m.records_match_of_total({ count: found.count, total: found.of })}
        </output>
      )}
      {!filters && (
        <>
          <IconButton
            icon={ChevronUp}
            size="small"
            iconSize={15}
            label={m.records_previous_match()}
            shortcut={shortcutLabel('shift+enter')}
            onClick={() => hits.go(-1)}
          />
          <IconButton
            icon={ChevronDown}
            size="small"
            iconSize={15}
            label={m.records_next_match()}
            shortcut={shortcutLabel('enter')}
            onClick={() => hits.go(1)}
          />
        </>
      )}
      <IconButton
        icon={ListFilter}
        size="small"
        iconSize={14}
        label={m.records_show_matching_records_only()}
        aria-pressed={filters}
        data-testid="search-filters"
        onClick={() => {
          apply({ filters: !filters }, 0)
          input.current?.focus()
        }}
      />
      <IconButton icon={X} size="small" iconSize={14} label={m.records_close_search()} onClick={close} />
    </search>
  )
}

/** Highlights the text in the grid's cells; an empty text clears the highlight. */
function useHighlight(text: string): void {
  useEffect(() => {
    const grid = document.querySelector('[data-grid]')
    return grid && text !== '' ? highlightText(grid, text) : undefined
  }, [text])
}

/** Hits of a search that does not filter. */
interface SearchHits {
  /** Null while unknown. */
  count: number | null
  /** Index of the selected hit; null before the first. */
  at: number | null
  /** Selects the next or previous hit, wrapping at the ends. */
  go(by: 1 | -1): void
}

/**
 * Steps through hits. The server counts them and locates their rows:
 * most of them are not loaded.
 * @param search null: nothing is searched
 */
function useSearchHits(context: TableContext, search: Search | null): SearchHits {
  const [count, setCount] = useState<number | null>(null)
  const [at, setAt] = useState<number | null>(null)
  const latest = useRef(context)
  latest.current = context
  const turn = useRef(0)
  const { text, fieldId } = search ?? { text: '', fieldId: null }

  const reading = useRef(new AbortController())

  async function select(index: number): Promise<void> {
    const mine = ++turn.current
    setAt(index)
    const place = await placeOf(latest.current, { text, fieldId }, index, reading.current.signal)
    const show = shownRecords(latest.current)?.show
    if (place && show) return mine === turn.current ? show(place.recordId) : undefined
    if (place) await untilRow(latest.current.store.source, place.row)
    if (place && mine === turn.current) shownRecords(latest.current)?.select(place.row, place.fieldId)
  }
  const show = useRef(select)
  show.current = select

  useEffect(() => {
    setCount(null)
    setAt(null)
    if (text === '') return
    const controller = new AbortController()
    const { signal } = controller
    reading.current = controller
    async function countHits() {
      const { schema, store } = latest.current
      const selection = selectionOf(schema.table.id, { ...store.query(), search: { text, fieldId } })
      const found = await api.records.count.query({ selection: { ...selection, timeZone } }, { signal })
      if (signal.aborted) return
      setCount(found.count)
      if (found.count === 0) setAt(null)
    }
    // In a large table the first hit is found long before all are counted.
    Promise.all([countHits(), show.current(0)]).catch((error) => {
      if (!signal.aborted) report(error)
    })
    return () => {
      // Ends the reads on the server as well.
      controller.abort()
      turn.current++
    }
  }, [text, fieldId])

  return {
    count,
    at,
    go(by) {
      if (!count) return
      const { signal } = reading.current
      select(((at ?? (by > 0 ? -1 : 0)) + by + count) % count).catch((error) => {
        if (!signal.aborted) report(error)
      })
    },
  }
}

const report = (error: unknown) => toast.error({ text: messageOf(error) })

/** Row and field of a hit in the view; null if it no longer exists. */
async function placeOf(
  { schema, state, store }: TableContext,
  search: Search,
  index: number,
  signal: AbortSignal,
): Promise<{ recordId: RecordId; row: number; fieldId: string | undefined } | null> {
  const shown = shownFields(schema.fields, state.view).map(({ field }) => field)
  const query = {
    ...selectionOf(schema.table.id, store.query()),
    ...orderOf(store.query()),
    timeZone,
    limit: 1,
  }
  const fieldIds = shown.map((field) => field.id)
  const page = await api.records.list.query(
    { query: { ...query, search, fieldIds, offset: index } },
    { signal },
  )
  const recordId = page.ids[0]
  if (recordId === undefined) return null
  const { offset } = await api.records.position.query(
    { query: { ...query, search: null, offset: 0 }, recordId },
    { signal },
  )
  const wanted = search.text.toLocaleLowerCase()
  const field = shown.find((one) => {
    if (search.fieldId !== null) return one.id === search.fieldId
    const value = page.rows[0]?.[page.fieldIds.indexOf(one.id)] ?? null
    return cellText(one, value).toLocaleLowerCase().includes(wanted)
  })
  return offset === null ? null : { recordId, row: offset, fieldId: field?.id }
}
