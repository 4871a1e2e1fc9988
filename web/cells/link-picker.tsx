import { ArrowUpRight, Check, Plus } from 'lucide-react'
import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { type LinkOptions, linkOptions } from '../../src/core/fields/link-options.ts'
import type { Field } from '../../src/core/model.ts'
import { m } from '../messages.gen.ts'
import { ControlGroup } from '../ui/composite.tsx'
import { useIsMounted } from '../ui/effects.ts'
import { keyed } from '../ui/keyed.ts'
import type { EditorProps, LinkLine, LinkTarget } from './cell.ts'
import { Combobox, type ComboboxLine, NoLine, useActiveLine } from './combobox.tsx'
import { isFocusLeaving } from './focus-within.ts'
import styles from './link-picker.module.css'
import { linksIn } from './link-value.ts'
import { type FoundLines, useLinkLines } from './use-link-lines.ts'

/**
 * Editor of a link: a search over linked and linkable records. A choice links or unlinks at once; a single link also
 * closes the picker.
 */
export function LinkPicker(props: EditorProps<LinkOptions>): ReactNode {
  useImperativeHandle(props.ref, () => ({
    // Choices are already saved: leaving the picker changes nothing.
    read: () => ({ ok: true, value: props.value }),
    focus: () => {},
  }))
  return props.links ? <Picker {...props} links={props.links} /> : null
}

function Picker(props: EditorProps<LinkOptions> & { links: LinkTarget }): ReactNode {
  const { links } = props
  const [text, setText] = useState(props.typed ?? '')
  const [isBusy, setBusy] = useState(false)
  /**
   * Set if Enter was pressed before results arrived: the first one is then chosen, and the picker closes if
   * Escape followed.
   */
  const [due, setDue] = useState<'choose' | 'chooseAndClose' | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const isMounted = useIsMounted()
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
      if (!isMounted.current) return
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
    // A quick Enter links the typed record and never removes a link.
    const isLinked = highlighted?.offer.kind === 'record' && highlighted.offer.isLinked
    const chosen = isLinked || !highlighted ? Promise.resolve() : choose(highlighted)
    if (due === 'chooseAndClose') void chosen.then(() => isMounted.current && props.cancel())
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

/** Message below the lines or instead of them: no results, or a failed read. */
function Foot(props: {
  state: FoundLines['state']
  isEmpty: boolean
  text: string
  links: LinkTarget
  found: FoundLines
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

/** A line of the picker: a record, a record to create, or "show all linked". */
type LinkOffer =
  | { kind: 'record'; record: LinkLine; isLinked: boolean }
  | { kind: 'create'; title: string }
  | { kind: 'moreLinked' }

/** A line of the picker. */
interface OfferedLine extends ComboboxLine {
  offer: LinkOffer
}

/** The lines in order: linked records, "show more", linkable records, and "create". */
function offeredLines(found: FoundLines, title: string, links: LinkTarget): OfferedLine[] {
  const offersFrom = (from: 'linked' | 'linkable'): LinkOffer[] =>
    found.lines
      .filter((line) => line.from === from)
      .map(({ record, isLinked }) => ({ kind: 'record', record, isLinked }))
  const offers: LinkOffer[] = [
    ...offersFrom('linked'),
    ...(found.hasMoreLinked ? [{ kind: 'moreLinked' } as const] : []),
    ...offersFrom('linkable'),
    ...(found.mayCreate && title !== '' ? [{ kind: 'create', title } as const] : []),
  ]
  return offers.map((offer, at) => ({ ...drawn(offer, links), isParted: at === found.parted }))
}

function drawn(offer: LinkOffer, { singular, open }: LinkTarget): OfferedLine {
  if (offer.kind === 'moreLinked') {
    const content = (
      <>
        <span className={styles.mark} />
        <span className={`${styles.words} ${styles.details}`}>{m.cells_show_more_linked_records()}</span>
      </>
    )
    return { key: offer.kind, testId: offer.kind, content, offer }
  }
  if (offer.kind === 'create') {
    const content = (
      <>
        <Plus size={14} aria-hidden className={styles.mark} />
        <span className={styles.words} dir="auto">
          {m.cells_new_singular_title({ singular, title: offer.title })}
        </span>
      </>
    )
    return { key: offer.kind, testId: offer.kind, content, offer }
  }
  const { record, isLinked } = offer
  return {
    key: `${typeof record.id} ${record.id}`,
    testId: isLinked ? 'linked' : 'linkable',
    isChosen: isLinked,
    content: <RecordLine record={record} isLinked={isLinked} onOpen={open} />,
    offer,
  }
}

interface RecordLineProps {
  record: LinkLine
  isLinked: boolean
  /** Absent if records cannot be opened. */
  onOpen?: (record: LinkLine) => void
}

function RecordLine({ record, isLinked, onOpen }: RecordLineProps): ReactNode {
  return (
    <>
      <span className={styles.mark}>{isLinked && <Check size={14} aria-hidden />}</span>
      <LinkWords record={record} />
      {onOpen && (
        <button
          type="button"
          tabIndex={-1}
          className={styles.open}
          aria-label={m.cells_open_title({ title: record.name })}
          title={m.common_open_record()}
          onClick={(event) => {
            event.stopPropagation()
            onOpen(record)
          }}
        >
          <ArrowUpRight size={14} aria-hidden className="flip-in-rtl" />
        </button>
      )}
    </>
  )
}

/** A record's title, with a few other values below. */
export const LinkWords = ({ record }: { record: LinkLine }): ReactNode => (
  <span className={styles.words}>
    <span className={styles.name} dir="auto" title={record.name.length > 40 ? record.name : undefined}>
      {record.name}
    </span>
    {record.details.length > 0 && (
      <small className={styles.details}>
        {keyed(record.details).map(({ key, item: text, at }) => (
          <span key={key}>
            {at > 0 && ' · '}
            <bdi>{text}</bdi>
          </span>
        ))}
      </small>
    )}
  </span>
)

interface LinkAdderProps {
  field: Field
  value: CellValue
  links: LinkTarget
  label: string
  invalid?: boolean
  describedBy?: string | undefined
  /** `takesFocus`: false if the focus has moved elsewhere. */
  onClose: (takesFocus: boolean) => void
}

/** The link picker outside a grid; closes after a choice, on Escape or on blur. */
export function LinkAdder({
  field,
  value,
  links,
  label,
  invalid = false,
  describedBy,
  onClose,
}: LinkAdderProps) {
  function onKeyDown(event: KeyboardEvent) {
    if (event.defaultPrevented || event.nativeEvent.isComposing) return
    if (event.key !== 'Escape' && event.key !== 'Enter') return
    event.preventDefault()
    event.stopPropagation()
    onClose(true)
  }
  return (
    <ControlGroup onKeyDown={onKeyDown} onBlur={(event) => isFocusLeaving(event) && onClose(false)}>
      <LinkPicker
        ref={null}
        value={value}
        field={field}
        links={links}
        label={label}
        invalid={invalid}
        describedBy={describedBy}
        options={linkOptions.parse(field.options)}
        variant="record"
        typed={null}
        commit={() => onClose(true)}
        change={() => {}}
        cancel={() => onClose(true)}
        autoFocus
      />
    </ControlGroup>
  )
}
