import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import type { LinkOptions } from '../../src/core/fields/link-options.ts'
import { t, tn } from '../i18n.ts'
import { Popover } from '../ui/popover.tsx'
import type { EditorProps, LinkTarget } from './cell.ts'
import editor from './editor.module.css'
import { LinkLineView, lineKey, type OfferedLine } from './link-line.tsx'
import styles from './link-picker.module.css'
import { linksIn } from './link-value.ts'
import { useFocusAtEnd } from './text-input.tsx'
import { type LinkLines, useLinkLines } from './use-link-lines.ts'

/**
 * The editor of a link: an input that searches the related table, over the records that are linked and
 * those that can be. A press links or unlinks at once; a link to one closes with it.
 */
export function LinkPicker(props: EditorProps<LinkOptions>): ReactNode {
  useImperativeHandle(props.ref, () => ({
    // Choosing has written already: leaving the picker changes nothing.
    read: () => ({ ok: true, value: props.value }),
    focus: () => {},
  }))
  return props.links ? <Picker {...props} links={props.links} /> : null
}

/** Lines that a page key goes over. */
const PAGE_LINES = 8

function Picker(props: EditorProps<LinkOptions> & { links: LinkTarget }): ReactNode {
  const { links, variant, typed } = props
  const [text, setText] = useState(typed ?? '')
  const [activeKey, setActiveKey] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  /** Enter came before the answer: the first line is chosen when it is here, and the list closed where Escape came too. */
  const [due, setDue] = useState<'choose' | 'chooseAndClose' | null>(null)
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const listId = useId()
  const { count } = linksIn(useSyncExternalStore(links.subscribe, links.current))
  const found = useLinkLines(links, text)
  const { state, more } = found
  useFocusAtEnd(input, props.autoFocus)

  const lines = offeredLines(found, text.trim())
  // A line counts as meant once one has typed or walked to it: Enter on a list just opened closes it.
  const first = text.trim() === '' ? undefined : (lines.find((line) => isCalled(line, text)) ?? lines[0])
  const highlighted = lines.find((line) => lineKey(line) === activeKey) ?? first
  const at = highlighted ? lines.indexOf(highlighted) : -1
  // biome-ignore lint/correctness/useExhaustiveDependencies: another line is highlighted
  useLayoutEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [activeKey, anchor])

  async function choose(line: OfferedLine | undefined) {
    if (!line || isBusy) return
    if (line.kind === 'moreLinked') return more('linked')
    setActiveKey(line.kind === 'record' ? lineKey(line) : null)
    if (line.kind === 'create') {
      setBusy(true)
      const made = await links.create(line.title).finally(() => setBusy(false))
      if (!made) return input.current?.focus()
      setText('')
    } else {
      const { record, isLinked } = line
      found.mark(record, !isLinked)
      const written = isLinked ? links.unlink(record) : links.link(record)
      void written.then((isDone) => isDone || found.mark(record, isLinked))
    }
    if (links.isSingle && !(line.kind === 'record' && line.isLinked)) props.cancel()
    else input.current?.focus()
  }

  const chooseDue = useRef(() => {})
  chooseDue.current = () => {
    setDue(null)
    // Quick Enter means what was typed, and never takes a link away.
    const isLinked = highlighted?.kind === 'record' && highlighted.isLinked
    const chosen = isLinked ? Promise.resolve() : choose(highlighted)
    if (due === 'chooseAndClose') void chosen.then(props.cancel)
  }
  useEffect(() => {
    if (due && state === 'ready') chooseDue.current()
    else if (due && state === 'failed') setDue(null)
  }, [due, state])

  function onKeyDown(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE_LINES, PageUp: -PAGE_LINES }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      const next = lines[Math.max(0, Math.min(lines.length - 1, at + step))]
      setActiveKey(next ? lineKey(next) : null)
      if (at + step >= lines.length - 3) more('linkable')
    } else if (due && (event.key === 'Escape' || event.key === 'Tab')) {
      event.preventDefault()
      setDue('chooseAndClose')
    } else if (event.key === 'Enter' && (highlighted || text.trim() !== '')) {
      event.preventDefault()
      if (state === 'reading') setDue('choose')
      else void choose(highlighted)
    }
  }

  return (
    <div className={variant === 'grid' ? editor.picker : editor.recordPicker} ref={setAnchor}>
      <input
        ref={input}
        id={props.id}
        role="combobox"
        className={editor.pickerInput}
        dir="auto"
        value={text}
        placeholder={t('Search {name}', { name: links.plural })}
        autoComplete="off"
        enterKeyHint="done"
        aria-label={props.label}
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={at >= 0 ? `${listId}-${at}` : undefined}
        onChange={(event) => {
          setText(event.target.value)
          setActiveKey(null)
          setDue(null)
        }}
        onKeyDown={onKeyDown}
      />
      <span className={styles.count}>{tn('{n} linked', '{n} linked', count)}</span>
      {anchor && (
        <Popover
          anchor={anchor}
          onClose={() => {}}
          focus="none"
          className={`${editor.popover} ${styles.popover}`}
        >
          {/* biome-ignore lint/a11y/noStaticElementInteractions: a press in it leaves the focus in the input */}
          <div data-cell-popover className={styles.box} onMouseDown={(event) => event.preventDefault()}>
            <div
              ref={list}
              id={listId}
              role="listbox"
              aria-label={props.label}
              aria-multiselectable={!links.isSingle || undefined}
              aria-busy={state === 'reading' || isBusy}
              className={styles.lines}
              onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
                if (scrollTop + clientHeight > scrollHeight - 200) more('linkable')
              }}
            >
              {lines.map((line, index) => (
                <LinkLineView
                  key={lineKey(line)}
                  id={`${listId}-${index}`}
                  line={line}
                  singular={links.singular}
                  isHighlighted={line === highlighted}
                  isParted={index === found.parted}
                  onChoose={() => void choose(line)}
                  onOpen={links.open}
                />
              ))}
              {state === 'reading' && lines.length === 0 && <Skeleton />}
            </div>
            <Footnote state={state} isEmpty={lines.length === 0} text={text} links={links} found={found} />
          </div>
        </Popover>
      )}
    </div>
  )
}

/** What stands under the lines, or in their place: nothing found, or not read. */
function Footnote(props: {
  state: LinkLines['state']
  isEmpty: boolean
  text: string
  links: LinkTarget
  found: LinkLines
}): ReactNode {
  const { state, isEmpty, text, links, found } = props
  if (state === 'failed') {
    return (
      <div className={styles.failed} role="alert">
        {t('The records could not be read.')}
        <button type="button" tabIndex={-1} className={styles.retry} onClick={found.retry}>
          {t('Try again')}
        </button>
      </div>
    )
  }
  if (state !== 'ready' || !isEmpty) return null
  return (
    <div className={editor.noOption}>
      {text.trim() === ''
        ? t('There are no {records} to link yet', { records: links.plural })
        : t('No record matches')}
    </div>
  )
}

const isCalled = (line: OfferedLine, text: string): boolean =>
  line.kind === 'record' && line.record.name.toLocaleLowerCase() === text.trim().toLocaleLowerCase()

/** The lines in their order: linked, more of those, those that can be linked, and one to be made. */
function offeredLines(found: LinkLines, title: string): OfferedLine[] {
  const asOffered = ({ record, isLinked }: LinkLines['lines'][number]): OfferedLine => ({
    ...{ kind: 'record', record, isLinked },
  })
  return [
    ...found.lines.filter((line) => line.from === 'linked').map(asOffered),
    ...(found.hasMoreLinked ? [{ kind: 'moreLinked' } as const] : []),
    ...found.lines.filter((line) => line.from === 'linkable').map(asOffered),
    ...(found.mayCreate && title !== '' ? [{ kind: 'create', title } as const] : []),
  ]
}

const Skeleton = () => (
  <>
    {[70, 50, 60].map((width) => (
      <div key={width} className={styles.skeleton} style={{ inlineSize: `${width}%` }} />
    ))}
  </>
)
