import { ChevronDown, ChevronRight } from 'lucide-react'
import { useId, useState } from 'react'
import type { FormulaDisplay } from '../../../../src/core/fields/formula.ts'
import { displaysOf, formulaResult } from '../../../../src/core/fields/formula-display.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import type { ValueType } from '../../../../src/core/formula/index.ts'
import { m } from '../../../messages.gen.ts'
import editor from '../field-editor.module.css'
import type { FieldOptionsProps } from './options-props.ts'
import { Choice } from './parts.tsx'

interface FormattingProps extends Pick<FieldOptionsProps, 'table' | 'chooseType' | 'OptionsOfType'> {
  type: ValueType
  display: FormulaDisplay | null
  onDisplay: (display: FormulaDisplay | null) => void
}

/** How the result is shown: as which type, and with that type's own options. */
export function Formatting({ type, display, onDisplay, table, chooseType, OptionsOfType }: FormattingProps) {
  const [isOpen, setOpen] = useState(display !== null)
  const id = useId()
  const shown = formulaResult(type, display)
  const isWhole = (name: string) => fieldType(name).fractional !== undefined
  return (
    <div className={editor.part}>
      <button
        type="button"
        className={editor.more}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? <ChevronDown size={14} /> : <ChevronRight size={14} className="flip-in-rtl" />}
        {m.schema_formatting()}
      </button>
      {isOpen && (
        <div id={id} className={editor.part} data-testid="formula-formatting">
          <Choice
            label={m.schema_show_as()}
            value={shown.type}
            values={displaysOf(type).map((name) => ({
              value: name,
              label: isWhole(name) ? m.schema_whole_number() : fieldType(name).label(),
            }))}
            onChange={(name) => onDisplay(name === displaysOf(type)[0] ? null : { type: name, options: {} })}
          />
          <OptionsOfType
            type={shown.type}
            options={shown.options}
            onChange={(options) => onDisplay({ type: shown.type, options })}
            table={table}
            field={null}
            chooseType={chooseType}
          />
        </div>
      )}
    </div>
  )
}
