import { Spline } from 'lucide-react'
import { geometry } from '../../src/core/fields/geometry.ts'
import { m } from '../messages.gen.ts'
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
          m.cells_enter_geometry_wkt_such_example({ example: geometry.example }),
        )
      }
    />
  ),
})
