import { Search as SearchIcon, X } from 'lucide-react'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { Field } from '../../../src/core/model.ts'
import type { Search } from '../../../src/core/query.ts'
import { formatNumber, t } from '../../i18n.ts'
import { IconButton } from '../../ui/button.tsx'
import { shortcutLabel } from '../../ui/shortcuts.ts'
import toolbar from '../views/toolbar.module.css'
import type { RecordStore } from './record-store.ts'
import styles from './table-view.module.css'

/** Time without a key after which the search runs. */
const PAUSE_MS = 250

export interface SearchBoxProps {
  fields: readonly Field[]
  search: Search | null
  onSearch: (search: Search | null) => void
  isOpen: boolean
  onOpen: (open: boolean) => void
  store: RecordStore
}

/** Finds records by text, in one field or in all. */
export function SearchBox({ fields, search, onSearch, isOpen, onOpen, store }: SearchBoxProps) {
  const [text, setText] = useState(search?.text ?? '')
  const [fieldId, setFieldId] = useState<string | null>(search?.fieldId ?? null)
  const input = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const total = useRef<number | null>(null)
  const count = useSyncExternalStore(store.source.subscribe, () => store.source.rowCount)
  // What there was before the search began is what "of 41" means.
  if (search === null) total.current = count

  useEffect(() => {
    if (isOpen) input.current?.select()
  }, [isOpen])
  useEffect(() => () => clearTimeout(timer.current), [])

  function apply(nextText: string, nextField: string | null, pauseMs: number) {
    clearTimeout(timer.current)
    const wanted = nextText.trim()
    timer.current = setTimeout(
      () => onSearch(wanted === '' ? null : { text: wanted, fieldId: nextField }),
      pauseMs,
    )
  }

  function close() {
    setText('')
    apply('', null, 0)
    onOpen(false)
  }

  if (!isOpen) {
    return (
      <IconButton
        icon={SearchIcon}
        iconSize={15}
        label={t('Search in this view')}
        shortcut={shortcutLabel('mod+f')}
        size="small"
        data-testid="search-button"
        onClick={() => onOpen(true)}
      />
    )
  }
  return (
    <search className={styles.search}>
      <SearchIcon size={14} aria-hidden />
      <select
        className={styles.searchField}
        aria-label={t('Where to search')}
        value={fieldId ?? ''}
        onChange={(event) => {
          const next = event.target.value || null
          setFieldId(next)
          apply(text, next, 0)
        }}
      >
        <option value="">{t('All fields')}</option>
        {fields.map((field) => (
          <option key={field.id} value={field.id}>
            {field.title}
          </option>
        ))}
      </select>
      <input
        ref={input}
        className={`${toolbar.input} ${styles.searchInput}`}
        // biome-ignore lint/a11y/noAutofocus: it opens in answer to Ctrl+F or a press on its button
        autoFocus
        dir="auto"
        placeholder={t('Search')}
        aria-label={t('Search in this view')}
        data-testid="search-input"
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          apply(event.target.value, fieldId, PAUSE_MS)
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') {
            event.preventDefault()
            event.stopPropagation()
            close()
          } else if (event.key === 'Enter') apply(text, fieldId, 0)
        }}
      />
      {search && count !== null && (
        <output className={styles.found} data-testid="search-count">
          {total.current === null
            ? formatNumber(count)
            : t('{n} of {total}', { n: formatNumber(count), total: formatNumber(total.current) })}
        </output>
      )}
      <IconButton icon={X} size="small" iconSize={14} label={t('Close search')} onClick={close} />
    </search>
  )
}
