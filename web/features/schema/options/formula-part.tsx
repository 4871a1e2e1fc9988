import { ChevronDown, ChevronRight } from 'lucide-react'
import { useId, useState } from 'react'
import type { FormulaDisplay } from '../../../../src/core/fields/formula.ts'
import { formulaOf } from '../../../../src/core/fields/formula.ts'
import { displaysOf, fitsDisplay, formulaResult } from '../../../../src/core/fields/formula-display.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import type { ValueType } from '../../../../src/core/formula/index.ts'
import { m } from '../../../messages.gen.ts'
import { FormulaEditor } from '../../formula/formula-editor.tsx'
import editor from '../field-editor.module.css'
import type { FieldOptionsProps } from './options-props.ts'
import { Choice } from './parts.tsx'

/** All that there is to say of a formula field: the formula, and how its result looks. */
export function FormulaPart({
  options,
  onChange,
  table,
  field,
  chooseType,
  OptionsOfType,
}: FieldOptionsProps) {
  const { formula, display } = formulaOf({ options })
  const [type, setType] = useState<ValueType | null>(null)
  return (
    <div className={editor.part} data-wide>
      <FormulaEditor
        label={m.schema_formula()}
        table={table}
        field={field}
        value={formula}
        onChange={(next) => onChange({ ...options, formula: next })}
        resultOf={(type) => formulaResult(type, display)}
        onType={(next) => {
          setType(next)
          // What does not fit would be refused; what was chosen for numbers says nothing of texts.
          if (!fitsDisplay(next, display)) onChange({ ...options, display: null })
        }}
      />
      {type !== null && (
        <Formatting
          key={type}
          type={type}
          display={display}
          onDisplay={(next) => onChange({ ...options, display: next })}
          table={table}
          chooseType={chooseType}
          OptionsOfType={OptionsOfType}
        />
      )}
    </div>
  )
}

interface FormattingProps extends Pick<FieldOptionsProps, 'table' | 'chooseType' | 'OptionsOfType'> {
  type: ValueType
  display: FormulaDisplay | null
  onDisplay: (display: FormulaDisplay | null) => void
}

/** How the result is shown: as which type, and with that type's own options. */
function Formatting({ type, display, onDisplay, table, chooseType, OptionsOfType }: FormattingProps) {
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
