import { List, MapPin } from 'lucide-react'
import type { Field } from '../../../../../src/core/model.ts'
import { isLocationField } from '../../../../../src/core/views/index.ts'
import { m } from '../../../../messages.gen.ts'
import { openMenu } from '../../../../ui/menu.tsx'
import toolbar from '../../controls/toolbar.module.css'

export interface MapToolsProps {
  fields: readonly Field[]
  geoField: Field
  onGeoField: (fieldId: string) => void
  isListOpen: boolean
  onList: (open: boolean) => void
}

/** Toolbar controls of a map: the location field and the list. */
export function MapTools({ fields, geoField, onGeoField, isListOpen, onList }: MapToolsProps) {
  const choices = fields.filter((field) => !field.isSystem && isLocationField(field))
  return (
    <>
      <button
        type="button"
        className={toolbar.button}
        aria-haspopup="menu"
        data-tip={m.map_location_field()}
        data-testid="geo-field-button"
        onClick={(event) =>
          openMenu(
            event.currentTarget,
            choices.map((field) => ({
              kind: 'action' as const,
              label: field.title,
              icon: MapPin,
              checked: field.id === geoField.id,
              run: () => onGeoField(field.id),
            })),
            m.map_location_field(),
          )
        }
      >
        <MapPin size={15} />
        <span className={toolbar.buttonLabel} dir="auto">
          {geoField.title}
        </span>
      </button>
      <button
        type="button"
        className={toolbar.button}
        aria-pressed={isListOpen}
        data-active={isListOpen || undefined}
        data-tip={isListOpen ? m.map_hide_the_list() : m.map_show_the_list()}
        data-testid="place-list-button"
        onClick={() => onList(!isListOpen)}
      >
        <List size={15} />
        <span className={toolbar.buttonLabel}>{m.common_list()}</span>
      </button>
    </>
  )
}
