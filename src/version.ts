import project from '../package.json'

/** The version of this build. */
export const VERSION: string = project.version
