import { writeFileList } from '../../../src/core/fields/attachment-item.ts'
import { shownType } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { readFormulaLink } from '../../../src/core/fields/formula.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { readList } from '../../../src/core/fields/list-value.ts'
import { formatValue } from '../../../src/core/fields/read.ts'
import { withPeople as optionsWithPeople } from '../../../src/core/fields/traits.ts'
import type { Field, Person } from '../../../src/core/model.ts'

/**
 * A value as readable text that an import accepts: people by e-mail, links by their names, files with their path,
 * lists separated by commas.
 */
export function cellText(
  field: Field,
  value: CellValue,
  { people, timeZone }: { people: readonly Person[]; timeZone: string },
): string {
  if (value === null) return ''
  const link =
    fieldType(field.type).computed === 'formula' && typeof value === 'string' ? readFormulaLink(value) : null
  if (link !== null) return link
  const { type, options, isList } = shownType(field)
  const named = optionsWithPeople(type.name, options, people)
  // Fields that follow the local clock use the time zone of the caller.
  const isLocal = 'timeZone' in named && named.timeZone === 'local'
  const shown = { type: type.name as Field['type'], options: isLocal ? { ...named, timeZone } : named }
  if (!isList) return type.holdsFiles ? writeFileList(value) : formatValue(shown, value)
  return readList(value)
    .map((each) => (each === null ? '' : formatValue(shown, each)))
    .filter((text) => text !== '')
    .join(', ')
}
