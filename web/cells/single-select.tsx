import { CircleChevronDown } from 'lucide-react'
import type { SelectOptions } from '../../src/core/fields/choices.ts'
import { matchTitle, singleSelect } from '../../src/core/fields/choices.ts'
import { m } from '../messages.gen.ts'
import { type Draft, defineCell, type EditorProps } from './cell.ts'
import type { OptionLine } from './option-list.ts'
import { OptionPicker } from './option-picker.tsx'
import { choiceOf, Pill } from './pill.tsx'

/** One option, as a pill; chosen from a list that typing filters. */
export const singleSelectCell = defineCell(singleSelect, {
  Icon: CircleChevronDown,
  isShape: true,
  align: 'start',
  minWidth: 70,
  extraWidth: 24,
  opensList: true,
  View: ({ value, options }) =>
    value === null || value === '' ? null : (
      <Pill title={String(value)} choice={choiceOf(options.choices, String(value))} />
    ),
  Editor: SingleSelectEditor,
})

function SingleSelectEditor(props: EditorProps<SelectOptions>) {
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
