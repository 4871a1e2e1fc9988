import { DatabaseZap } from 'lucide-react'
import { specificDbType } from '../../src/core/fields/specific-db-type.ts'
import { m } from '../messages.gen.ts'
import { defineCell } from './cell.ts'
import { draftOf, TextInput } from './text-input.tsx'
import { TextView } from './text-view.tsx'

/** Text of a type that only the database knows. */
export const specificDbTypeCell = defineCell(specificDbType, {
  Icon: DatabaseZap,
  align: 'start',
  minWidth: 80,
  View: TextView,
  Editor: (props) => (
    <TextInput
      {...props}
      initial={String(props.value ?? '')}
      parse={(text) =>
        draftOf(text, specificDbType.parse(text, props.options), m.cells_this_text_is_too_long())
      }
    />
  ),
})
