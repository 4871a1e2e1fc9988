import { Type } from 'lucide-react'
import { singleLineText } from '../../src/core/fields/text.ts'
import { t } from '../i18n.ts'
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
      parse={(text) => draftOf(text, singleLineText.parse(text, props.options), t('This text is too long'))}
    />
  ),
})
