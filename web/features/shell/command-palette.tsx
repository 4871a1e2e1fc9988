import { Search } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { actionContext } from '../../actions/action.ts'
import { t } from '../../i18n.ts'
import { useLayer } from '../../ui/layers.ts'
import { matches } from '../../ui/matches.ts'
import styles from './command-palette.module.css'
import { useFoundRecords } from './use-found-records.ts'
import { type PaletteEntry, usePaletteEntries } from './use-palette-entries.ts'
import { useRecentViews } from './use-recent-views.ts'

const MAX_SHOWN = 60

export interface CommandPaletteProps {
  /** The views one was in last, and nothing else. */
  isOfRecent?: boolean
  onClose: () => void
}

/** Finds bases, tables, views, records and actions by any part of their name; arrows and Enter, or a press. */
export function CommandPalette({ isOfRecent = false, onClose }: CommandPaletteProps) {
  const [search, setSearch] = useState('')
  const [at, setAt] = useState(0)
  const [context] = useState(actionContext)
  const list = useRef<HTMLDivElement>(null)
  const id = useId()
  const everything = usePaletteEntries(context)
  const recent = useRecentViews(context)
  const entries = isOfRecent ? recent : everything.entries
  const isReading = !isOfRecent && everything.isReading
  const records = useFoundRecords(context, isOfRecent ? '' : search)
  const label = isOfRecent ? t('Recent views') : t('Search and commands')
  useLayer(onClose)

  const found = useMemo(() => {
    const named = entries.filter((entry) => matches(`${entry.label} ${entry.hint ?? ''}`, search))
    return [...named.slice(0, MAX_SHOWN), ...records]
  }, [entries, records, search])
  const current = Math.min(at, found.length - 1)

  // biome-ignore lint/correctness/useExhaustiveDependencies: keeps the chosen line in sight as it moves
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [current, found])

  function choose(entry: PaletteEntry | undefined) {
    if (!entry) return
    onClose()
    // After the focus has gone back, so that what opens now returns it to the same place.
    setTimeout(() => entry.run())
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return
    const last = found.length - 1
    const next = { ArrowDown: current >= last ? 0 : current + 1, ArrowUp: current <= 0 ? last : current - 1 }[
      event.key
    ]
    if (next !== undefined) setAt(next)
    else if (event.key === 'Enter') choose(found[current])
    else if (event.key === 'Tab') event.preventDefault()
    else return
    event.preventDefault()
  }

  return createPortal(
    <div
      className={styles.overlay}
      onPointerDown={(event) => event.target === event.currentTarget && onClose()}
    >
      <div className={styles.palette} role="dialog" aria-modal="true" aria-label={label}>
        <div className={styles.input}>
          <Search size={17} />
          <input
            // biome-ignore lint/a11y/noAutofocus: the palette is this input
            autoFocus
            dir="auto"
            role="combobox"
            aria-expanded="true"
            aria-controls={`${id}-list`}
            aria-activedescendant={found[current] ? `${id}-${current}` : undefined}
            aria-label={label}
            placeholder={isOfRecent ? label : t('Search bases, tables, views, records and actions')}
            value={search}
            onChange={(event) => {
              setSearch(event.target.value)
              setAt(0)
            }}
            onKeyDown={onKeyDown}
          />
          <kbd>Esc</kbd>
        </div>
        <div ref={list} id={`${id}-list`} role="listbox" aria-label={t('Results')} className={styles.list}>
          {found.map((entry, index) => (
            <div key={entry.id} role="presentation">
              {entry.group !== found[index - 1]?.group && <p className={styles.group}>{entry.group}</p>}
              {/* biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input (aria-activedescendant) */}
              <div
                id={`${id}-${index}`}
                role="option"
                aria-selected={index === current}
                className={styles.entry}
                onPointerMove={() => setAt(index)}
                // Keeps the focus in the input.
                onPointerDown={(event) => event.preventDefault()}
                onClick={() => choose(entry)}
                onKeyDown={onKeyDown}
              >
                <span className={styles.icon}>{entry.icon && <entry.icon size={16} />}</span>
                <span className={styles.label} dir="auto">
                  {entry.label}
                </span>
                {entry.hint && (
                  <span className={styles.hint} dir="auto">
                    {entry.hint}
                  </span>
                )}
                {entry.shortcut && <kbd>{entry.shortcut}</kbd>}
              </div>
            </div>
          ))}
          {found.length === 0 && (
            <p className={styles.none}>
              {isReading
                ? t('Loading tables…')
                : search === ''
                  ? t('No recent views.')
                  : t('No results for “{search}”', { search })}
            </p>
          )}
        </div>
      </div>
    </div>,
    document.body,
  )
}
