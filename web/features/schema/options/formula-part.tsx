import { useState } from 'react'
import { formulaOf } from '../../../../src/core/fields/formula.ts'
import { fitsDisplay, formulaResult } from '../../../../src/core/fields/formula-display.ts'
import type { ValueType } from '../../../../src/core/formula/index.ts'
import { m } from '../../../messages.gen.ts'
import { FormulaEditor } from '../../formula/formula-editor.tsx'
import editor from '../field-editor.module.css'
import { Formatting } from './formatting.tsx'
import type { FieldOptionsProps } from './options-props.ts'

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
