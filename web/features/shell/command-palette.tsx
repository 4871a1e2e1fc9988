import { keepPreviousData } from '@tanstack/react-query'
import { Database, FileText, Search, Table2 } from 'lucide-react'
import { createElement, type KeyboardEvent, type ReactNode, useId, useMemo, useState } from 'react'
import { createPortal } from 'react-dom'
import { type Action, type ActionContext, actionContext } from '../../actions/action.ts'
import { actionsFor, runAction } from '../../actions/index.ts'
import { localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { session } from '../../session/index.ts'
import { lastPlaces } from '../../session/last-places.ts'
import { type RecentView, recentViews } from '../../session/recent-views.ts'
import { cache, type Outputs, trpc } from '../../trpc.ts'
import { focusOnMount, Option } from '../../ui/composite.tsx'
import { useLayer } from '../../ui/layers.ts'
import { matches } from '../../ui/matches.ts'
import { shortcutLabel } from '../../ui/shortcuts.ts'
import { useDebounced } from '../layout/use-debounced.ts'
import { TableIcon } from '../views/icons/chosen-icon.tsx'
import { ViewIcon } from '../views/manage/kind-info.tsx'
import styles from './command-palette.module.css'

const MAX_SHOWN = 60

type Snippet = Outputs['records']['search']['matches'][number]['snippet']

export interface CommandPaletteProps {
  /** Shows only recently visited views. */
  isOfRecent?: boolean
  onClose: () => void
}

/** Command palette: searches bases, tables, views, records and actions by name. */
export function CommandPalette({ isOfRecent = false, onClose }: CommandPaletteProps) {
  const [search, setSearch] = useState('')
  const [at, setAt] = useState(0)
  const [context] = useState(actionContext)
  const id = useId()
  const everything = usePaletteEntries(context)
  const recent = useRecentViews(context)
  const entries = isOfRecent ? recent : everything.entries
  const isReading = !isOfRecent && everything.isReading
  const records = useFoundRecords(context, isOfRecent ? '' : search)
  const label = isOfRecent ? m.shell_recent_views() : m.shell_search_and_commands()
  useLayer(onClose)

  const found = useMemo(() => {
    const named = entries.filter((entry) => matches(`${entry.label} ${entry.hint ?? ''}`, search))
    return [...named.slice(0, MAX_SHOWN), ...records.entries]
  }, [entries, records.entries, search])
  const current = Math.min(at, found.length - 1)

  function choose(entry: PaletteEntry | undefined) {
    if (!entry) return
    onClose()
    // After the focus has returned, so that an opened dialog returns it to the same element.
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
            ref={focusOnMount}
            dir="auto"
            role="combobox"
            aria-expanded="true"
            aria-controls={`${id}-list`}
            aria-activedescendant={found[current] ? `${id}-${current}` : undefined}
            aria-label={label}
            placeholder={isOfRecent ? label : m.shell_search_bases_tables_views_records()}
            value={search}
            onChange={(event) => {
              setSearch(event.target.value)
              setAt(0)
            }}
            onKeyDown={onKeyDown}
          />
          <kbd>Esc</kbd>
        </div>
        <div className={styles.list}>
          <div id={`${id}-list`} role="listbox" aria-label={m.shell_results()}>
            {found.map((entry, index) => (
              <div key={entry.id} role="presentation">
                {entry.group !== found[index - 1]?.group && <p className={styles.group}>{entry.group}</p>}
                <Option
                  id={`${id}-${index}`}
                  isActive={index === current}
                  aria-selected={index === current}
                  className={styles.entry}
                  onPointerMove={() => setAt(index)}
                  // Keeps the focus in the input.
                  onPointerDown={(event) => event.preventDefault()}
                  onClick={() => choose(entry)}
                  onKeyDown={onKeyDown}
                >
                  <span className={styles.icon}>{entry.icon && <entry.icon size={16} />}</span>
                  <span className={styles.texts}>
                    <span className={styles.title}>
                      <span className={styles.label} dir="auto">
                        {entry.label}
                      </span>
                      {entry.hint && (
                        <span className={styles.hint} dir="auto">
                          {entry.hint}
                        </span>
                      )}
                    </span>
                    {entry.snippet && <SnippetText {...entry.snippet} />}
                  </span>
                  {entry.shortcut && <kbd>{entry.shortcut}</kbd>}
                </Option>
              </div>
            ))}
          </div>
          {found.length === 0 && !records.isSearching && (
            <p className={styles.none}>
              {isReading
                ? m.shell_loading_tables()
                : search === ''
                  ? m.shell_no_recent_views()
                  : m.shell_no_results_for_search({ search })}
            </p>
          )}
        </div>
        <div role="status" className={styles.status}>
          {records.isSearching ? m.shell_searching_records() : records.notice}
        </div>
      </div>
    </div>,
    document.body,
  )
}

/** Pause in typing before records are searched. */
const SEARCH_PAUSE_MS = 200

/** True for two characters, or one that may be a word: in Chinese, Japanese and Korean. */
const isSearchable = (text: string): boolean =>
  text.length >= 2 || /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(text)

interface FoundRecords {
  entries: PaletteEntry[]
  /** True until the response for the text in the input has arrived. */
  isSearching: boolean
  /** A sentence if some tables could not be searched completely or the search failed. */
  notice: string
}

const NOTHING_FOUND: FoundRecords = { entries: [], isSearching: false, notice: '' }

/** Records of the open base that show the searched text in any field. */
function useFoundRecords({ base, tableId }: ActionContext, search: string): FoundRecords {
  const wanted = search.trim()
  const text = useDebounced(wanted, SEARCH_PAUSE_MS)
  const isAsked = base !== null && isSearchable(wanted) && isSearchable(text)
  const baseId = base?.id ?? ''
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const found = trpc.records.search.useQuery(
    { baseId, text, timeZone, ...(tableId?.startsWith('m') && { tableId }) },
    {
      enabled: isAsked,
      placeholderData: keepPreviousData,
      // Records change without notice to this query.
      staleTime: 0,
      // Ends the search on the server when the text changes or the palette closes.
      trpc: { abortOnUnmount: true },
    },
  )
  const tables = trpc.schema.tables.useQuery({ baseId }, { enabled: isAsked })
  const titles = useMemo(() => new Map(tables.data?.map((table) => [table.id, table.title])), [tables.data])
  const entries = useMemo(
    () =>
      (found.data?.matches ?? []).map((match): PaletteEntry => {
        const record = encodeURIComponent(String(match.recordId))
        return {
          id: `${match.tableId} ${match.recordId}`,
          label: match.name || m.common_untitled(),
          group: m.common_records(),
          hint: titles.get(match.tableId),
          icon: FileText,
          run: () => goTo(`${paths.table(baseId, match.tableId)}?rowId=${record}`),
          ...(!match.isOfName && { snippet: match.snippet }),
        }
      }),
    [found.data, titles, baseId],
  )
  if (!isAsked) return NOTHING_FOUND
  const isSearching = text !== wanted || found.isPending || found.isPlaceholderData
  // Of the records of the text before, only those that show the text in the input as well.
  const shown = isSearching
    ? entries.filter(({ label, snippet }) => matches(`${label} ${snippet?.text ?? ''}`, wanted))
    : entries
  const unfinished = (found.data?.unfinished ?? []).flatMap((id) => titles.get(id) ?? [])
  const notice = found.isError
    ? m.shell_records_not_searched()
    : unfinished.length > 0
      ? m.shell_tables_not_searched({
          tables: new Intl.ListFormat(localeTag(), { type: 'conjunction' }).format(unfinished),
        })
      : ''
  return { entries: found.isError ? NO_ENTRIES : shown, isSearching, notice }
}

const NO_ENTRIES: PaletteEntry[] = []

/** The text around a match, with the match marked. */
function SnippetText({ text, start, end }: Snippet): ReactNode {
  return (
    <span className={styles.snippet} dir="auto">
      {text.slice(0, start)}
      {start < end && <mark>{text.slice(start, end)}</mark>}
      {text.slice(end)}
    </span>
  )
}

/** Recently visited views without the open one, so that Enter alone switches back. */
function useRecentViews({ tableId, viewId }: ActionContext): PaletteEntry[] {
  const bases = new Map(trpc.bases.list.useQuery({}).data?.map((base) => [base.id, base.title]))
  const isHere = (view: RecentView) =>
    view.viewId === viewId || (viewId === null && view.isDefault && view.tableId === tableId)
  return recentViews(session.userId() ?? '')
    .filter((view) => bases.has(view.baseId) && !isHere(view))
    .flatMap((view): PaletteEntry[] => {
      // Loaded schemas are newer than the stored entry: the view may be renamed or deleted.
      const schema = cache.schema.table.getData({ tableId: view.tableId })
      const now = schema?.views.find(({ id }) => id === view.viewId)
      if (schema && !now) return []
      return [
        {
          id: view.viewId,
          label: now?.title ?? view.title,
          group: m.shell_recent_views(),
          hint: [schema?.table.title ?? view.tableTitle, bases.get(view.baseId)].join(' · '),
          icon: now ? () => createElement(ViewIcon, { view: now, size: 16 }) : Table2,
          run: () => goTo(paths.table(view.baseId, view.tableId, view.isDefault ? undefined : view.viewId)),
        },
      ]
    })
}

/** An entry of the command palette. */
interface PaletteEntry {
  id: string
  label: string
  group: string
  /** Its parent, e.g. the base of a table. */
  hint?: string
  icon?: Action['icon']
  shortcut?: string
  /** Where a record shows the searched text, unless its label does. */
  snippet?: Snippet
  run: () => void
}

/** Bases whose tables are searched: the open one, then those visited last. */
const MAX_BASES = 8

/** Entries of the palette: tables, views, actions of this screen, and bases. */
function usePaletteEntries(context: ActionContext): { entries: PaletteEntry[]; isReading: boolean } {
  const bases = trpc.bases.list.useQuery({})
  const searched = useMemo(() => {
    const visited = new Set([context.base?.id, ...lastPlaces().map((place) => place.baseId)])
    const found = [...visited].flatMap((id) => bases.data?.find((base) => base.id === id) ?? [])
    return found.slice(0, MAX_BASES)
  }, [bases.data, context.base])
  const tableLists = trpc.useQueries((q) => searched.map((base) => q.schema.tables({ baseId: base.id })))
  const hereId = context.base?.id
  const here = tableLists[searched.findIndex((base) => base.id === hereId)]?.data
  const titles = trpc.views.titles.useQuery(
    { baseId: hereId ?? '' },
    { enabled: hereId !== undefined, staleTime: 0 },
  )

  const views = (here ?? []).flatMap((table) => {
    // The table's entry opens its default view.
    const others = titles.data?.filter((view) => view.tableId === table.id && !view.isDefault) ?? []
    return others.map(
      (view): PaletteEntry => ({
        id: view.id,
        label: view.title,
        group: m.shell_views(),
        hint: table.title,
        icon: () => createElement(ViewIcon, { view, size: 16 }),
        run: () => goTo(paths.table(table.baseId, table.id, view.id)),
      }),
    )
  })

  const tables = searched.flatMap((base, index): PaletteEntry[] =>
    (tableLists[index]?.data ?? []).map((table) => ({
      id: table.id,
      label: table.title,
      group: base.id === hereId ? m.shell_tables_in_this_base() : m.shell_tables_in_other_bases(),
      hint: base.id === hereId ? undefined : base.title,
      icon: () => createElement(TableIcon, { table, size: 16 }),
      run: () => goTo(paths.table(base.id, table.id)),
    })),
  )
  const isHere = (entry: PaletteEntry) => entry.group === m.shell_tables_in_this_base()

  const actions = actionsFor(context)
    .filter((action) => !action.hidden)
    .map(
      (action): PaletteEntry => ({
        id: action.id,
        label: action.label(),
        group: m.shell_actions(),
        hint: action.hint?.(),
        icon: action.icon,
        shortcut: action.shortcut && shortcutLabel(action.shortcut),
        run: () => {
          runAction(action, context)
        },
      }),
    )

  const allBases = (bases.data ?? []).map(
    (base): PaletteEntry => ({
      id: base.id,
      label: base.title,
      group: m.shell_bases(),
      icon: Database,
      run: () => goTo(paths.base(base.id)),
    }),
  )

  return {
    entries: [
      ...tables.filter(isHere),
      ...views,
      ...actions,
      ...allBases,
      ...tables.filter((entry) => !isHere(entry)),
    ],
    isReading: bases.isPending || tableLists.some((list) => list.isPending),
  }
}
