import { Check } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useImperativeHandle, useRef, useState } from 'react'
import { titlesIn } from '../../src/core/fields/choice-titles.ts'
import { type Choice, matchTitle, type SelectOptions } from '../../src/core/fields/choices.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { m } from '../messages.gen.ts'
import { useIsMounted } from '../ui/effects.ts'
import type { Draft, EditorProps } from './cell.ts'
import { Combobox, type ComboboxLine, NoLine, useActiveLine } from './combobox.tsx'
import editor from './editor.module.css'
import { choiceOf, Pill } from './pill.tsx'

/** A list of options, one of which is selected. */
export function SingleSelectEditor(props: EditorProps<SelectOptions>) {
  const { value, options, commit } = props
  const selected = value === null || value === '' ? [] : [String(value)]
  const read = (text: string, best: OptionLine | undefined): Draft => {
    if (text.trim() === '') return { ok: true, value: best?.kind === 'option' ? best.choice.title : value }
    const title = matchTitle(options.choices, text) ?? (best?.kind === 'option' ? best.choice.title : null)
    return title === null
      ? { ok: false, message: m.cells_no_option_named_text({ text: text.trim() }) }
      : { ok: true, value: title }
  }
  return (
    <OptionPicker
      {...props}
      selected={selected}
      several={false}
      onToggle={(title) => commit(title === value ? null : title)}
      onRemoveLast={() => commit(null)}
      read={read}
    />
  )
}

/** A list of options that stays open while toggling. */
export function MultiSelectEditor(props: EditorProps<SelectOptions>): ReactNode {
  const { options, change } = props
  const [selected, setSelected] = useState(() => titlesIn(String(props.value ?? '')))
  const set = (titles: string[]) => {
    setSelected(titles)
    // In a record, each change is saved, because the list stays open; a grid cell saves once when it closes.
    if (props.variant === 'record') change(joinTitles(titles))
  }
  const read = (text: string, best: OptionLine | undefined): Draft => {
    if (text.trim() === '') return { ok: true, value: joinTitles(selected) }
    const title = matchTitle(options.choices, text) ?? (best?.kind === 'option' ? best.choice.title : null)
    if (title === null) return { ok: false, message: m.cells_no_option_named_text({ text: text.trim() }) }
    return { ok: true, value: joinTitles([...new Set([...selected, title])]) }
  }
  return (
    <OptionPicker
      {...props}
      selected={selected}
      several
      onToggle={(title) =>
        set(selected.includes(title) ? selected.filter((each) => each !== title) : [...selected, title])
      }
      onRemoveLast={() => set(selected.slice(0, -1))}
      read={read}
    />
  )
}

interface OptionPickerProps extends EditorProps<SelectOptions> {
  selected: string[]
  several: boolean
  /** Selects or deselects an option. */
  onToggle(title: string): void
  /** Interprets the typed text when the picker is left. */
  read(text: string, highlighted: OptionLine | undefined): Draft
  onRemoveLast(): void
}

/** The editor of both select types: a list of options filtered by the typed text, with an offer to create one. */
function OptionPicker(props: OptionPickerProps): ReactNode {
  const { options, selected, several, createOption } = props
  const { choices } = options
  const [text, setText] = useState(props.typed ?? '')
  const [isBusy, setBusy] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const isMounted = useIsMounted()
  const lines = optionLines(choices, text, createOption !== undefined).map((line) => drawn(line, selected))
  // Without typed text, the list starts at the selected option.
  const start = props.typed ? null : choiceOf(choices, selected[0] ?? '')?.id
  const active = useActiveLine(lines, { text, start })
  const isMeant = text !== '' || active.isWalkedTo

  useImperativeHandle(props.ref, () => ({
    read: () => {
      const now = input.current?.value ?? text
      if (now !== text) return props.read(now, optionLines(choices, now, false)[0])
      // Opening the list selects nothing.
      return props.read(now, isMeant ? active.line?.offer : undefined)
    },
    focus: () => input.current?.focus(),
  }))

  async function choose({ offer }: DrawnOption) {
    if (isBusy) return
    if (offer.kind === 'create') {
      setBusy(true)
      const isMade = await createOption?.(offer.title).finally(() => setBusy(false))
      if (!isMade || !isMounted.current) return
    }
    setText('')
    props.onToggle(offer.kind === 'option' ? offer.choice.title : offer.title)
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Backspace' && text === '') props.onRemoveLast()
    if (event.key !== 'Enter' || event.shiftKey || !active.line) return
    // In a multi select, Enter toggles the active option; without an active one, the owner handles Enter.
    const ticks = several && isMeant
    if (!ticks && active.line.offer.kind !== 'create') return
    event.preventDefault()
    void choose(active.line)
  }

  return (
    <Combobox
      editor={props}
      input={input}
      text={text}
      onText={setText}
      lines={lines}
      active={active}
      several={several}
      onKeyDown={onKeyDown}
      placeholder={selected.length === 0 ? m.cells_find_an_option() : ''}
      onChoose={(line) => void choose(line)}
      busy={isBusy ? 'doing' : null}
      before={selected.map((title) => (
        <Pill
          key={title}
          title={title}
          choice={choiceOf(choices, title)}
          onRemove={() => props.onToggle(title)}
          removeLabel={m.cells_remove_title({ title })}
        />
      ))}
      foot={lines.length === 0 && <NoLine>{m.cells_no_matching_options()}</NoLine>}
    />
  )
}

interface DrawnOption extends ComboboxLine {
  offer: OptionLine
}

function drawn(offer: OptionLine, selected: readonly string[]): DrawnOption {
  if (offer.kind === 'create') {
    const content = <span dir="auto">{m.cells_create_title({ title: offer.title })}</span>
    return { key: 'create', testId: 'create-option', content, offer }
  }
  const { id, title } = offer.choice
  const isChosen = selected.includes(title)
  const content = (
    <>
      <Pill title={title} choice={offer.choice} />
      {isChosen && <Check size={14} aria-hidden className={editor.chosen} />}
    </>
  )
  return { key: id, testId: 'option', isChosen, content, offer }
}

/** Stored value of several titles, joined in the order of entry; null if empty. */
const joinTitles = (titles: string[]): CellValue => titles.join(',') || null

/** Maximum number of options listed; typing finds others. */
const MAX_SHOWN = 200

/** A line of the list: an option, or the offer to create one from the typed text. */
type OptionLine = { kind: 'option'; choice: Choice } | { kind: 'create'; title: string }

/**
 * Options that match the typed text: prefix matches first, each group in field order. If no option has the
 * typed title, adds the offer to create it.
 */
export function optionLines(choices: Choice[], typed: string, canCreate: boolean): OptionLine[] {
  const search = typed.trim().toLocaleLowerCase()
  const starting: Choice[] = []
  const holding: Choice[] = []
  let isTitle = false
  for (const choice of choices) {
    const title = choice.title.toLocaleLowerCase()
    if (title === search) isTitle = true
    if (title.startsWith(search)) starting.push(choice)
    else if (title.includes(search)) holding.push(choice)
  }
  const shown = [...starting, ...holding].slice(0, MAX_SHOWN)
  const lines: OptionLine[] = shown.map((choice) => ({ kind: 'option', choice }))
  if (canCreate && search !== '' && !isTitle) lines.push({ kind: 'create', title: typed.trim() })
  return lines
}
