/**
 * The settings of a view: filter, sorts, groups, coloring, options of its kind, lock and visibility.
 */

export { checkColoring, checkGroups, checkOptions, newOptions } from './check-options.ts'
export {
  type ChoiceSettings,
  formWithRenamedChoices,
  renameChoices,
  withRenamedChoices,
} from './rename-choices.ts'
export {
  changedKeys,
  changeView,
  rightsFor,
  stateOf,
  updateView,
  type ViewPatch,
  writeView,
} from './update.ts'
export {
  restoreVisibility,
  setVisibility,
  type VisibilityChange,
  type VisibilityRule,
  viewsOfBase,
  viewsOfTables,
} from './visibility.ts'
