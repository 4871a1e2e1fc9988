import { Type } from 'lucide-react'
import { singleLineText } from '../../src/core/fields/text.ts'
import { m } from '../messages.gen.ts'
import { defineCell } from './cell.ts'
import { draftOf, TextInput } from './text-input.tsx'
import { TextView } from './text-view.tsx'

/** One line of text, edited in place. */
export const singleLineTextCell = defineCell(singleLineText, {
  Icon: Type,
  align: 'start',
  minWidth: 60,
  View: TextView,
  Editor: (props) => (
    <TextInput
      {...props}
      initial={String(props.value ?? '')}
      parse={(text) =>
        draftOf(text, singleLineText.parse(text, props.options), m.cells_this_text_is_too_long())
      }
    />
  ),
})
