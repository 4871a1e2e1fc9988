import { m } from '../../../messages.gen.ts'
import type { OptionsProps } from './controls.tsx'
import { Tick } from './controls.tsx'

export function PeopleOptions({ options, onChange }: OptionsProps) {
  return (
    <Tick
      label={m.schema_allow_several_people()}
      checked={options.multiple === true}
      onChange={(multiple) => onChange({ ...options, multiple })}
    />
  )
}
