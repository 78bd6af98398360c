/** Every id that this extension contributes, named once; a test compares them with package.json. */

/** Commands. */
export const commandIds = {
  addWatch: 'objectVersions.addWatch',
  removeWatch: 'objectVersions.removeWatch',
  retryWatch: 'objectVersions.retryWatch',
  chooseKubeconfig: 'objectVersions.chooseKubeconfig',
  startSandbox: 'objectVersions.startSandbox',
  stopSandbox: 'objectVersions.stopSandbox',
  openTimeline: 'objectVersions.openTimeline',
  showOnTimeline: 'objectVersions.showOnTimeline',
  showTimelineAsText: 'objectVersions.showTimelineAsText',
  openObject: 'objectVersions.openObject',
  openVersion: 'objectVersions.openVersion',
  compareWithPrevious: 'objectVersions.compareWithPrevious',
  compareVersions: 'objectVersions.compareVersions',
  compareIncarnations: 'objectVersions.compareIncarnations',
  compareActor: 'objectVersions.compareActor',
  showSecretValues: 'objectVersions.showSecretValues',
  restoreVersion: 'objectVersions.restoreVersion',
  deleteObject: 'objectVersions.deleteObject',
  scale: 'objectVersions.scale',
  setLabel: 'objectVersions.setLabel',
  setAnnotation: 'objectVersions.setAnnotation',
  setField: 'objectVersions.setField',
  setImage: 'objectVersions.setImage',
  removeFinalizer: 'objectVersions.removeFinalizer',
  releaseVolume: 'objectVersions.releaseVolume',
  releaseField: 'objectVersions.releaseField',
  showRelated: 'objectVersions.showRelated',
  declareAssociation: 'objectVersions.declareAssociation',
  cleanUpAssociation: 'objectVersions.cleanUpAssociation',
  adoptAssociation: 'objectVersions.adoptAssociation',
  copyName: 'objectVersions.copyName',
  copyUid: 'objectVersions.copyUid',
  copyToken: 'objectVersions.copyToken',
  showToken: 'objectVersions.showToken',
  filter: 'objectVersions.filter',
  clearFilter: 'objectVersions.clearFilter',
  sortByName: 'objectVersions.sortByName',
  sortByLastChange: 'objectVersions.sortByLastChange',
  groupBy: 'objectVersions.groupBy',
  showMore: 'objectVersions.showMore',
  openFinding: 'objectVersions.openFinding',
  muteFinding: 'objectVersions.muteFinding',
  unmuteFindings: 'objectVersions.unmuteFindings',
  explainFinding: 'objectVersions.explainFinding',
  recordController: 'objectVersions.recordController',
  stopRecording: 'objectVersions.stopRecording',
  recorderEnvFile: 'objectVersions.recorderEnvFile',
  importTrace: 'objectVersions.importTrace',
  exportTrace: 'objectVersions.exportTrace',
  clearLog: 'objectVersions.clearLog',
  toggleReadOnly: 'objectVersions.toggleReadOnly',
  waitUntilObserved: 'objectVersions.waitUntilObserved',
  showLastReport: 'objectVersions.showLastReport',
  showLog: 'objectVersions.showLog',
  startLesson: 'objectVersions.startLesson',
  predictStep: 'objectVersions.predictStep',
  checkStep: 'objectVersions.checkStep',
  solveStep: 'objectVersions.solveStep',
  endLesson: 'objectVersions.endLesson',
  exportLessonReport: 'objectVersions.exportLessonReport',
  labReplay: 'objectVersions.labReplay',
  labContention: 'objectVersions.labContention',
  labModular: 'objectVersions.labModular',
  labLessons: 'objectVersions.labLessons',
  labLessonFile: 'objectVersions.labLessonFile',
  openWalkthrough: 'objectVersions.openWalkthrough',
  openDocumentation: 'objectVersions.openDocumentation',
} as const;

/** Views and their container. */
export const viewIds = {
  container: 'objectVersions',
  watchedObjects: 'objectVersions.watchedObjects',
  findings: 'objectVersions.findings',
  lessons: 'objectVersions.lessons',
} as const;

/** Settings, below `objectVersions.`. */
export const settingIds = {
  kubeconfig: 'kubeconfig',
  watches: 'watches',
  openOnStart: 'openOnStart',
  readOnly: 'readOnly',
  protectedContexts: 'protectedContexts',
  fieldManager: 'fieldManager',
  strategy: 'write.strategy',
  maxAttempts: 'write.maxAttempts',
  timeoutSeconds: 'write.timeoutSeconds',
  keepBodies: 'log.keepBodies',
  logSizeMegabytes: 'log.sizeMegabytes',
  logAgeDays: 'log.ageDays',
  pageSize: 'tree.pageSize',
  notify: 'findings.notify',
  thresholds: 'findings.thresholds',
  externalReferences: 'findings.externalReferences',
  mutedFindings: 'findings.muted',
  responsibilities: 'responsibilities',
  responsibilityPresets: 'responsibilityPresets',
  requestsPerSecond: 'requestsPerSecond',
  associations: 'associations',
  commandLineInTerminals: 'terminal.commandLine',
} as const;

/** Keys of `when` clauses. */
export const contextKeys = {
  hasWatches: 'objectVersions.hasWatches',
  hasFilter: 'objectVersions.hasFilter',
  hasFindings: 'objectVersions.hasFindings',
  hasAssociations: 'objectVersions.hasAssociations',
  sandboxRuns: 'objectVersions.sandboxRuns',
  /** A sandbox is connected, of this window or another: completes the step of the walkthrough. */
  sandboxSeen: 'objectVersions.sandboxSeen',
  recording: 'objectVersions.recording',
  readOnly: 'objectVersions.readOnly',
  lessonRuns: 'objectVersions.lessonRuns',
  /** With a lesson's id behind a dot: completes the step of the walkthrough. */
  lessonPassed: 'objectVersions.passed',
  sortedByLastChange: 'objectVersions.sortedByLastChange',
} as const;

/** The scheme of documents that show objects. */
export const scheme = 'object-version';

/** The language of documents that show objects: YAML, but never saved or formatted by itself. */
export const languageId = 'kubernetes-object';

/** The labs' pages, each a webview panel. */
export const labViewTypes = {
  modular: 'objectVersions.lab.modular',
  replay: 'objectVersions.lab.replay',
  contention: 'objectVersions.lab.contention',
  lessons: 'objectVersions.lab.lessons',
} as const;

/** Editors for files and webviews. */
export const editorIds = { trace: 'objectVersions.trace', timeline: 'objectVersions.timeline' } as const;

/** Ways to start a program behind the recorder, as package.json contributes them. */
export const recordedIds = {
  terminalProfile: 'objectVersions.recordedTerminal',
  taskType: 'objectVersions.recorded',
} as const;
