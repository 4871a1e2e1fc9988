import { ChevronDown, ChevronUp, ListFilter, Search as SearchIcon, X } from 'lucide-react'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { Field } from '../../../../src/core/model.ts'
import type { Search } from '../../../../src/core/query.ts'
import { highlightText } from '../../../grid/highlight.ts'
import { formatNumber } from '../../../i18n.ts'
import { m } from '../../../messages.gen.ts'
import { IconButton } from '../../../ui/button.tsx'
import { shortcutLabel } from '../../../ui/shortcuts.ts'
import toolbar from '../../views/controls/toolbar.module.css'
import styles from '../bars/table-view.module.css'
import type { TableContext } from '../context/table-context.ts'
import { useSearchHits } from './use-search-hits.ts'

/** Time without a key after which the search runs. */
const PAUSE_MS = 250

export interface SearchBoxProps {
  context: TableContext
  fields: readonly Field[]
  search: Search | null
  onSearch: (search: Search | null) => void
  isOpen: boolean
  onOpen: (open: boolean) => void
}

/**
 * Finds records by text, in one field or in all: either only what is found is shown, or everything is
 * and one goes from hit to hit.
 */
export function SearchBox({ context, fields, search, onSearch, isOpen, onOpen }: SearchBoxProps) {
  const [text, setText] = useState(search?.text ?? '')
  const [fieldId, setFieldId] = useState<string | null>(search?.fieldId ?? null)
  const [filters, setFilters] = useState(true)
  const [sought, setSought] = useState<Search | null>(search)
  const input = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const total = useRef<number | null>(null)
  const { source } = context.store
  const count = useSyncExternalStore(source.subscribe, () => source.rowCount)
  // What there was before the search began is what "of 41" means.
  if (search === null) total.current = count
  const hits = useSearchHits(context, filters ? null : sought)
  useHighlight(isOpen ? (sought?.text ?? '') : '')

  useEffect(() => {
    if (isOpen) input.current?.select()
  }, [isOpen])
  useEffect(() => () => clearTimeout(timer.current), [])

  function apply(next: { text?: string; fieldId?: string | null; filters?: boolean }, pauseMs: number) {
    const all = { text, fieldId, filters, ...next }
    clearTimeout(timer.current)
    const wanted = all.text.trim()
    timer.current = setTimeout(() => {
      const found = wanted === '' ? null : { text: wanted, fieldId: all.fieldId }
      setSought(found)
      onSearch(all.filters ? found : null)
    }, pauseMs)
  }

  function close() {
    setText('')
    apply({ text: '' }, 0)
    onOpen(false)
  }

  function onEnter(isBack: boolean) {
    if (filters || sought?.text !== text.trim()) apply({}, 0)
    else hits.go(isBack ? -1 : 1)
  }

  if (!isOpen) {
    return (
      <IconButton
        icon={SearchIcon}
        iconSize={15}
        label={m.records_search_this_view()}
        shortcut={shortcutLabel('mod+f')}
        size="small"
        data-testid="search-button"
        onClick={() => onOpen(true)}
      />
    )
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
          const next = event.target.value || null
          setFieldId(next)
          apply({ fieldId: next }, 0)
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
          setFilters(!filters)
          apply({ filters: !filters }, 0)
          input.current?.focus()
        }}
      />
      <IconButton icon={X} size="small" iconSize={14} label={m.records_close_search()} onClick={close} />
    </search>
  )
}

/** Marks a text in the cells of the grid on the screen; none for an empty text. */
function useHighlight(text: string): void {
  useEffect(() => {
    const grid = document.querySelector('[data-grid]')
    return grid && text !== '' ? highlightText(grid, text) : undefined
  }, [text])
}
