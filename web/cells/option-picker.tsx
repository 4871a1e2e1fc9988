import { Check } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useImperativeHandle, useRef, useState } from 'react'
import type { SelectOptions } from '../../src/core/fields/choices.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { m } from '../messages.gen.ts'
import type { Draft, EditorProps } from './cell.ts'
import { Combobox, type ComboboxLine, NoLine } from './combobox.tsx'
import styles from './editor.module.css'
import { type OptionLine, optionLines } from './option-list.ts'
import { choiceOf, Pill } from './pill.tsx'
import { useActiveLine } from './use-active-line.ts'

interface OptionPickerProps extends EditorProps<SelectOptions> {
  selected: string[]
  several: boolean
  /** An option was chosen, or chosen once more. */
  onToggle(title: string): void
  /** What leaving with this text in the input means. */
  read(text: string, highlighted: OptionLine | undefined): Draft
  onRemoveLast(): void
}

/** The editor of both select types: the options of the field, found as one types, and one to be made. */
export function OptionPicker(props: OptionPickerProps): ReactNode {
  const { options, selected, several, createOption } = props
  const { choices } = options
  const [text, setText] = useState(props.typed ?? '')
  const [isBusy, setBusy] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const lines = optionLines(choices, text, createOption !== undefined).map((line) => drawn(line, selected))
  // Nothing typed: one begins at what is chosen already.
  const start = props.typed ? null : choiceOf(choices, selected[0] ?? '')?.id
  const active = useActiveLine(lines, { text, start })
  const isMeant = text !== '' || active.isWalkedTo

  useImperativeHandle(props.ref, () => ({
    read: () => {
      const now = input.current?.value ?? text
      if (now !== text) return props.read(now, optionLines(choices, now, false)[0])
      // Opening a list chooses nothing.
      return props.read(now, isMeant ? active.line?.offer : undefined)
    },
    focus: () => input.current?.focus(),
  }))

  async function choose({ offer }: DrawnOption) {
    if (isBusy) return
    if (offer.kind === 'create') {
      setBusy(true)
      const isMade = await createOption?.(offer.title).finally(() => setBusy(false))
      if (!isMade) return
    }
    setText('')
    props.onToggle(offer.kind === 'option' ? offer.choice.title : offer.title)
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Backspace' && text === '') props.onRemoveLast()
    if (event.key !== 'Enter' || event.shiftKey || !active.line) return
    // In a list of several, Enter ticks; without a choice to make it leaves (the owner's Enter).
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
      {isChosen && <Check size={14} aria-hidden className={styles.chosen} />}
    </>
  )
  return { key: id, testId: 'option', isChosen, content, offer }
}

/** The value of several titles: joined in the order of entry, or none. */
export const joinTitles = (titles: string[]): CellValue => titles.join(',') || null
