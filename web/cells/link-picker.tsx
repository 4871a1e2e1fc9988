import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import type { LinkOptions } from '../../src/core/fields/link-options.ts'
import { m } from '../messages.gen.ts'
import type { EditorProps, LinkTarget } from './cell.ts'
import { Combobox, NoLine } from './combobox.tsx'
import { type LinkOffer, type OfferedLine, offeredLines } from './link-line.tsx'
import styles from './link-picker.module.css'
import { linksIn } from './link-value.ts'
import { useActiveLine } from './use-active-line.ts'
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

function Picker(props: EditorProps<LinkOptions> & { links: LinkTarget }): ReactNode {
  const { links } = props
  const [text, setText] = useState(props.typed ?? '')
  const [isBusy, setBusy] = useState(false)
  /** Enter came before the answer: the first line is chosen when it is here, and the list closed where Escape came too. */
  const [due, setDue] = useState<'choose' | 'chooseAndClose' | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const { count } = linksIn(useSyncExternalStore(links.subscribe, links.current))
  const found = useLinkLines(links, text)
  const { state, more } = found
  const lines = offeredLines(found, text.trim(), links)
  const called = lines.findIndex(({ offer }) => isCalled(offer, text))
  const active = useActiveLine(lines, { text, meant: Math.max(0, called) })
  const highlighted = active.line

  async function choose({ key, offer }: OfferedLine) {
    if (isBusy) return
    if (offer.kind === 'moreLinked') return more('linked')
    active.go(offer.kind === 'record' ? key : null)
    if (offer.kind === 'create') {
      setBusy(true)
      const made = await links.create(offer.title).finally(() => setBusy(false))
      if (!made) return input.current?.focus()
      setText('')
    } else {
      const { record, isLinked } = offer
      found.mark(record, !isLinked)
      const written = isLinked ? links.unlink(record) : links.link(record)
      void written.then((isDone) => isDone || found.mark(record, isLinked))
    }
    if (links.isSingle && !(offer.kind === 'record' && offer.isLinked)) props.cancel()
    else input.current?.focus()
  }

  const chooseDue = useRef(() => {})
  chooseDue.current = () => {
    setDue(null)
    // Quick Enter means what was typed, and never takes a link away.
    const isLinked = highlighted?.offer.kind === 'record' && highlighted.offer.isLinked
    const chosen = isLinked || !highlighted ? Promise.resolve() : choose(highlighted)
    if (due === 'chooseAndClose') void chosen.then(props.cancel)
  }
  useEffect(() => {
    if (due && state === 'ready') chooseDue.current()
    else if (due && state === 'failed') setDue(null)
  }, [due, state])

  function onKeyDown(event: KeyboardEvent) {
    if (due && (event.key === 'Escape' || event.key === 'Tab')) {
      event.preventDefault()
      setDue('chooseAndClose')
    } else if (event.key === 'Enter' && (highlighted || text.trim() !== '')) {
      event.preventDefault()
      if (state === 'reading') setDue('choose')
      else if (highlighted) void choose(highlighted)
    }
  }

  return (
    <Combobox
      editor={props}
      input={input}
      text={text}
      lines={lines}
      active={active}
      onKeyDown={onKeyDown}
      className={styles.popover}
      several={!links.isSingle}
      onText={(typed) => {
        setText(typed)
        setDue(null)
      }}
      placeholder={m.cells_search_name({ name: links.plural })}
      onChoose={(line) => void choose(line)}
      busy={isBusy ? 'doing' : state === 'reading' ? 'reading' : null}
      onNearEnd={() => more('linkable')}
      after={<span className={styles.count}>{m.cells_linked_count({ count })}</span>}
      foot={<Foot state={state} isEmpty={lines.length === 0} text={text} links={links} found={found} />}
    />
  )
}

/** What stands under the lines, or in their place: nothing found, or not read. */
function Foot(props: {
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
        {m.cells_records_load_failed()}
        <button type="button" tabIndex={-1} className={styles.retry} onClick={found.retry}>
          {m.common_try_again()}
        </button>
      </div>
    )
  }
  if (!isEmpty) return null
  if (state === 'reading') return <Skeleton />
  return (
    <NoLine>
      {text.trim() === ''
        ? m.cells_no_records_link_yet({ records: links.plural })
        : m.common_no_matching_records()}
    </NoLine>
  )
}

const isCalled = (offer: LinkOffer, text: string): boolean =>
  offer.kind === 'record' && offer.record.name.toLocaleLowerCase() === text.trim().toLocaleLowerCase()

const Skeleton = () => (
  <>
    {[70, 50, 60].map((width) => (
      <div key={width} className={styles.skeleton} style={{ inlineSize: `${width}%` }} />
    ))}
  </>
)
