import type { ViewField, ViewKind } from '../../src/core/model.ts'
import { canBeAsked } from '../../src/core/views/form-answers.ts'
import type { RowColoring } from '../../src/core/views/index.ts'
import { collectsAnswers } from '../../src/core/views/index.ts'
import type { TableModel } from '../schema/index.ts'
import { fieldsOfView, type LineRow, type ViewRow, withFreshIds, withSortIds } from './model.ts'

/**
 * What a copy takes from its source: all that says how records are shown, and from whom it is hidden, but neither the
 * title, nor the lock, nor whose it is. Filters and sorts get ids of their own.
 */
export function copied(source: ViewRow, kind: ViewKind): Partial<ViewRow> {
  const {
    rowHeight,
    frozen,
    filter,
    sorts,
    groups,
    coloring,
    meta,
    description,
    showSystemFields,
    hiddenFrom,
  } = source
  return {
    rowHeight,
    frozen,
    groups,
    meta,
    description,
    showSystemFields,
    hiddenFrom,
    ...(source.kind === kind && { options: source.options }),
    coloring: coloring && withOwnRules(coloring),
    filter: filter && withFreshIds(filter),
    sorts: withSortIds(
      sorts.map(({ fieldId, direction }) => ({ fieldId, direction })),
      [],
    ),
  }
}

/** What a copy says of fields: what its source says, as far as it makes sense in a view of that kind. */
export function copiedLines(
  model: TableModel,
  source: ViewRow,
  kind: ViewKind,
  lines: LineRow[],
): ViewField[] {
  // Those of fields in the trash wait in the copy too.
  if (source.kind === kind) return lines
  return fieldsOfView(model, source.kind, lines).map((line, index) => {
    const field = model.field(line.fieldId)
    const isShown = line.show && (!collectsAnswers({ kind }) || (field !== undefined && canBeAsked(field)))
    return { ...line, order: index + 1, show: isShown, form: null }
  })
}

const withOwnRules = (coloring: RowColoring): RowColoring =>
  coloring.mode === 'select'
    ? coloring
    : {
        ...coloring,
        rules: coloring.rules.map((rule) => ({ ...rule, filter: withFreshIds(rule.filter) })),
      }
