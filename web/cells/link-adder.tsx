import type { KeyboardEvent } from 'react'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { linkOptions } from '../../src/core/fields/link-options.ts'
import type { Field } from '../../src/core/model.ts'
import { ControlGroup } from '../ui/composite.tsx'
import type { LinkTarget } from './cell.ts'
import { isFocusLeaving } from './focus-within.ts'
import { LinkPicker } from './link-picker.tsx'

export interface LinkAdderProps {
  field: Field
  value: CellValue
  links: LinkTarget
  label: string
  invalid?: boolean
  describedBy?: string | undefined
  /** `takesFocus`: it was not left for something else. */
  onClose: (takesFocus: boolean) => void
}

/** The picker of links outside a grid, until one has chosen, pressed Escape, or gone elsewhere. */
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
