import { Spline } from 'lucide-react'
import { geometry } from '../../src/core/fields/geometry.ts'
import { t } from '../i18n.ts'
import { defineCell } from './cell.ts'
import { draftOf, TextInput } from './text-input.tsx'
import { TextView } from './text-view.tsx'

/** A shape, as well-known text. */
export const geometryCell = defineCell(geometry, {
  Icon: Spline,
  align: 'start',
  minWidth: 80,
  View: TextView,
  Editor: (props) => (
    <TextInput
      {...props}
      initial={String(props.value ?? '')}
      placeholder={geometry.example}
      parse={(text) =>
        draftOf(
          text,
          geometry.parse(text, {}),
          t('Enter a geometry in WKT, such as {example}', { example: geometry.example }),
        )
      }
    />
  ),
})
