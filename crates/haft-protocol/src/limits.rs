//! The one table of limits.
//!
//! Every cap of haft stands here with its unit in its name. Zero never means unlimited: a limit a caller may set is an
//! `Option<NonZero…>`, and leaving it out means the value of this table.

use std::num::NonZeroU64;

/// Characters of one part of a qualified name.
pub const NAME_SEGMENT_CHARS: usize = 64;
/// Characters of a wire name: the smallest cap among the model interfaces.
pub const WIRE_NAME_CHARS: usize = 64;
/// Nearest names shown for a name that nobody registered.
pub const NEAREST_NAMES: usize = 3;

/// Bytes of one call's arguments as they arrive.
pub const ARGUMENTS_BYTES: usize = 8 * 1024 * 1024;
/// Levels of nesting in one call's arguments.
pub const ARGUMENTS_DEPTH: usize = 128;
/// Problems named in one answer about arguments; the rest are counted.
pub const PROBLEMS_SHOWN: usize = 8;

/// Bytes of a schema that comes from elsewhere, in its compact form.
pub const SCHEMA_BYTES: usize = 256 * 1024;
/// Levels of nesting in a schema that comes from elsewhere.
pub const SCHEMA_DEPTH: usize = 32;
/// Sub-schemas in a schema that comes from elsewhere.
pub const SCHEMA_NODES: usize = 5_000;
/// Bytes of a tool's description.
pub const DESCRIPTION_BYTES: usize = 16 * 1024;

/// Calls of one step; the next one is denied, its siblings run.
pub const CALLS_PER_STEP: usize = 25;
/// Calls of one run, where nothing else is set.
pub const CALLS_PER_RUN: u64 = 10_000;
/// Leaf effects at one time.
pub const PERMITS: usize = 8;
/// Levels of calls inside calls.
pub const NESTING_DEPTH: usize = 8;
/// Attempts of one idempotent call: the first and its repetitions.
pub const ATTEMPTS: u32 = 3;
/// Milliseconds before the second attempt; doubled before each further one.
pub const RETRY_DELAY_MS: u64 = 100;
/// Milliseconds a body may run when its descriptor says nothing.
pub const RUN_MS: u64 = 120_000;
/// Milliseconds a person has to answer before a waiting call expires.
pub const APPROVAL_MS: u64 = 15 * 60 * 1_000;
/// Milliseconds a call waits for a permit and its locks.
pub const ACQUIRE_MS: u64 = 60_000;
/// Milliseconds a source has to wake up.
pub const ACTIVATE_MS: u64 = 30_000;
/// Milliseconds one hook may take; then it counts as failed, and a failed hook denies.
pub const HOOK_MS: u64 = 10_000;
/// Milliseconds a cancelled or timed-out body has to end before it is reported as detached.
pub const GRACE_MS: u64 = 1_000;

/// Attempts of one request to a model: the first and its repetitions.
pub const MODEL_ATTEMPTS: u32 = 5;
/// Milliseconds before the second attempt of a request to a model; doubled before each further one, and up to half of it
/// left out by chance.
pub const MODEL_RETRY_DELAY_MS: u64 = 1_000;
/// Milliseconds before a further attempt at most, where the provider names no number.
pub const MODEL_RETRY_DELAY_MAX_MS: u64 = 30_000;
/// Milliseconds that a provider may ask a request to wait; one that is asked to wait longer fails at once.
pub const MODEL_RETRY_AFTER_MS: u64 = 120_000;
/// Milliseconds that one request to a model waits in all, between its attempts and for its account's pace.
pub const MODEL_WAIT_MS: u64 = 300_000;
/// Repetitions of all requests that one guard makes; each whole reply gives one back.
pub const MODEL_RETRIES: u32 = 50;
/// Requests to models of one account at one time, where nothing else is set.
pub const MODEL_REQUESTS_AT_ONCE: usize = 8;
/// Milliseconds that a request to a model waits for its turn among them.
pub const MODEL_TURN_MS: u64 = 600_000;
/// Attempts of one account that fail in a row before it is left alone for a while.
pub const MODEL_FAILURES: u32 = 8;
/// Milliseconds for which it is left alone before one request may try again.
pub const MODEL_REST_MS: u64 = 30_000;

/// Bytes of text one outcome shows; the rest goes into an artifact.
pub const OUTCOME_TEXT_BYTES: usize = 96 * 1024;
/// Bytes of structured output one outcome carries; the rest goes into an artifact.
pub const OUTCOME_STRUCTURED_BYTES: usize = 1024 * 1024;
/// Bytes of one image.
pub const IMAGE_BYTES: u64 = 5 * 1024 * 1024;
/// Pixels along either side of an image that a model is shown.
pub const IMAGE_SIDE_PIXELS: u32 = 8_000;

/// Bytes of a path as a caller writes it.
pub const PATH_BYTES: usize = 4_096;
/// Bytes of one name in a path.
pub const FILE_NAME_BYTES: usize = 255;
/// Directories that are missing on the way to a place and are made for one change.
pub const NEW_DIRECTORIES: usize = 128;
/// Links that one path may lead through.
pub const LINK_HOPS: u32 = 40;
/// Names of a directory looked at to find those near a name that is missing.
pub const NEIGHBOURS: usize = 20_000;
/// Levels of directories that a walk goes down.
pub const WALK_DEPTH: usize = 512;
/// Threads of one walk, where the machine has as many.
pub const WALK_THREADS: usize = 8;
/// Bytes of one file of ignore rules; a longer one is not followed, and the walk says so.
pub const IGNORE_FILE_BYTES: u64 = 64 * 1024;
/// Names looked at in one directory to find what else a file of several names is called.
pub const TWIN_NAMES: usize = 100_000;
/// Names looked at in a directory that is to be moved, for one among them that may not be.
pub const MOVED_NAMES: usize = 100_000;
/// Bytes of a file that is moved to another device.
pub const CARRIED_BYTES: u64 = 64 * 1024 * 1024;
/// Entries looked at before and after a call that may change anything beneath a directory.
pub const SCAN_ENTRIES: u64 = 500_000;
/// Milliseconds one such look may take.
pub const SCAN_MS: u64 = 20_000;
/// Files that tools have changed and that are kept before such a call.
pub const SCAN_KEPT_FILES: usize = 500;
/// Bytes of all files that are kept before such a call, and of all that are looked at after it.
pub const SCAN_KEPT_BYTES: u64 = 32 * 1024 * 1024;
/// Paths of one call that takes changes back.
pub const UNDO_PATHS: usize = 10_000;
/// Calls that the tool `undo` lists by default.
pub const UNDO_CALLS: u32 = 10;
/// Calls that the tool `undo` lists at most.
pub const UNDO_CALLS_MAX: u32 = 1_000;
/// Paths that the tool `undo` shows of each call it lists.
pub const UNDO_SHOWN_PATHS: usize = 4;
/// How often one directory may have been made again and still be known for the one it stands for.
pub const MADE_AGAIN: usize = 64;
/// Paths of one call up to which the tool `undo` writes the call that takes them back.
pub const UNDO_SENT_PATHS: usize = 20;
/// Bytes of a file of which a change is taken out line by line.
pub const MERGE_BYTES: u64 = 16 * 1024 * 1024;
/// Bytes of a file that are held at once while it is kept or compared.
pub const PIECE_BYTES: usize = 64 * 1024;

/// Bytes looked at to tell text from other content.
pub const SNIFF_BYTES: usize = 8 * 1024;
/// Rows of one read.
pub const READ_LINES: u32 = 2_000;
/// Bytes of one read.
pub const READ_BYTES: usize = 64 * 1024;
/// Bytes of one read as it is shown, with line numbers and escapes.
pub const READ_SHOWN_BYTES: usize = 90 * 1024;
/// Bytes shown of one line.
pub const READ_LINE_BYTES: usize = 2_000;
/// Bytes of a file up to which its lines are counted to the end.
pub const READ_COUNT_BYTES: u64 = 64 * 1024 * 1024;
/// Entries of one directory listing.
pub const LIST_ENTRIES: u32 = 1_000;
/// Levels of directories of one listing.
pub const LIST_DEPTH: u32 = 64;
/// Levels of directories of a recursive listing, where the caller names no number.
pub const LIST_DEPTH_DEFAULT: u32 = 3;
/// Results of one search, where the caller names no number.
pub const SEARCH_RESULTS: u32 = 100;
/// Results of one search at most.
pub const SEARCH_RESULTS_MAX: u32 = 2_000;
/// Bytes shown of one line that matched.
pub const SEARCH_LINE_BYTES: usize = 500;
/// Bytes of text of one search.
pub const SEARCH_BYTES: usize = 64 * 1024;
/// Lines of context on either side of a match.
pub const SEARCH_CONTEXT_LINES: u32 = 50;
/// Entries one search looks at.
pub const SEARCH_ENTRIES: u64 = 2_000_000;
/// Milliseconds one search may take before it answers with what it has.
pub const SEARCH_MS: u64 = 30_000;
/// Bytes of a file that a multi-line search holds at once.
pub const SEARCH_MULTILINE_BYTES: u64 = 16 * 1024 * 1024;
/// Bytes of one line that a search holds at once.
pub const SEARCH_HELD_LINE_BYTES: usize = 16 * 1024 * 1024;
/// Matches counted for one search; beyond them it only looks for results that come before those it has.
pub const SEARCH_COUNTED_MATCHES: u64 = 10_000;
/// Characters of a search pattern.
pub const SEARCH_PATTERN_CHARS: usize = 4_096;
/// Globs of one kind in one search.
pub const SEARCH_GLOBS: usize = 100;
/// Characters of one glob of a search.
pub const SEARCH_GLOB_CHARS: usize = 1_024;
/// Bytes of memory a search pattern may compile to.
pub const PATTERN_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of memory that one thread of a search keeps of what it learned about a pattern.
pub const PATTERN_CACHE_BYTES: usize = 10 * 1024 * 1024;
/// Positions of a search pattern: the characters and classes it is made of, each as often as it may be repeated.
pub const PATTERN_POSITIONS: u64 = 4_096;
/// Positions of a pattern times bytes it is tried on without a look at the clock: at the very worst some two seconds.
pub const PATTERN_WORK: u64 = 64 * 1024 * 1024;

/// Pieces of one file that a read ledger keeps.
pub const LEDGER_SEGMENTS: usize = 1_000;
/// Lines of one file that a read ledger keeps.
pub const LEDGER_LINES: usize = 1_000_000;

/// Bytes of one text whose syntax is looked at.
pub const SYNTAX_FILE_BYTES: usize = 1024 * 1024;
/// Milliseconds that the syntax of one text may take.
pub const SYNTAX_FILE_MS: u64 = 2_000;
/// Definitions, uses or matches kept of one text; the rest are counted.
pub const SYNTAX_ITEMS: usize = 10_000;
/// Bytes of a name that is looked for, and of one that is shown.
pub const SYNTAX_NAME_BYTES: usize = 1_000;
/// Bytes shown of a definition.
pub const SYNTAX_SIGNATURE_BYTES: usize = 200;
/// Definitions of one outline, where the caller names no number.
pub const OUTLINE_DEFINITIONS: u32 = 500;
/// Bytes of a match of a pattern of code, as data has it.
pub const AST_MATCH_BYTES: usize = 2_000;
/// Bytes of a pattern of code.
pub const SYNTAX_PATTERN_BYTES: usize = 4_096;
/// Levels of nesting in a pattern of code.
pub const SYNTAX_PATTERN_DEPTH: usize = 128;
/// Times over that `$$$` stands before something with `$$$` in it: each doubles the work.
pub const SYNTAX_PATTERN_TRIES: usize = 6;
/// Levels of nesting in a text that is searched for the same thing in two places.
pub const SYNTAX_COMPARED_DEPTH: usize = 500;

/// Characters of a command, or of one argument of a program: the system takes 128 KiB each.
pub const COMMAND_CHARS: usize = 100_000;
/// Arguments of a program.
pub const COMMAND_ARGUMENTS: usize = 1_000;
/// Milliseconds a command may run, where the caller names no number.
pub const COMMAND_MS: u32 = 30_000;
/// Milliseconds a command may run at most.
pub const COMMAND_MS_MAX: u32 = 300_000;
/// Bytes of each stream of a command that stay in memory, half of them from its start.
pub const COMMAND_STREAM_BYTES: usize = 64 * 1024;
/// Bytes of each stream of a command that are kept on disk, from its start.
pub const COMMAND_SPOOL_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes of both streams of a command as they are shown, with escapes.
pub const COMMAND_SHOWN_BYTES: usize = 88 * 1024;
/// Bytes of memory that one process of a command may have to itself. As good as no limit: sanitizers and some runtimes map
/// far more than they use, so no smaller number is right for everybody.
pub const PROGRAM_MEMORY_BYTES: u64 = 64 * 1024 * 1024 * 1024 * 1024;
/// Processes and threads that a command may add to those that run when it starts.
pub const PROGRAM_PROCESSES: u64 = 4_096;
/// Bytes to which a command may make a file grow.
pub const PROGRAM_FILE_BYTES: u64 = 16 * 1024 * 1024 * 1024;
/// Milliseconds a checker of source code may run.
pub const CODE_CHECK_MS: u32 = 120_000;
/// Bytes of what a checker writes that are read.
pub const CODE_CHECK_BYTES: u64 = 32 * 1024 * 1024;
/// Diagnostics in a result where nothing is said.
pub const CODE_CHECK_DIAGNOSTICS: u32 = 50;
/// Diagnostics in a result at most.
pub const CODE_CHECK_DIAGNOSTICS_MAX: u32 = 500;

/// Bytes of a file that is edited, and of one that is written.
pub const EDIT_FILE_BYTES: u64 = 16 * 1024 * 1024;
/// Edits of one call.
pub const EDITS: usize = 100;
/// Places that one edit may replace.
pub const EDIT_PLACES: usize = 100_000;
/// Places of one edit that are named by their line.
pub const EDIT_LINES_NAMED: usize = 100;
/// Lines shown of the place nearest to a text that was not found.
pub const NEAREST_LINES: usize = 40;
/// Bytes of a corrected call that is shown.
pub const CORRECTED_CALL_BYTES: usize = 8 * 1024;
/// Lines shown around each change of a difference.
pub const DIFF_CONTEXT_LINES: usize = 3;
/// Lines of a difference that is shown.
pub const DIFF_LINES: usize = 200;
/// Bytes of a difference that is shown.
pub const DIFF_BYTES: usize = 16 * 1024;
/// Bytes shown of one line of a difference.
pub const DIFF_LINE_BYTES: usize = 500;

/// Bytes of one artifact.
pub const ARTIFACT_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes of all artifacts of one state directory.
pub const ARTIFACTS_BYTES: u64 = 1024 * 1024 * 1024;
/// Days a record is kept.
pub const RETENTION_DAYS: u32 = 30;
/// Calls the journal keeps at most.
pub const RETENTION_CALLS: u64 = 200_000;
/// Runs that are kept at most, with all their calls.
pub const RETENTION_RUNS: u64 = 2_000;
/// Bytes of all entries of all runs that are kept.
pub const RUNS_BYTES: u64 = 1024 * 1024 * 1024;
/// Of a model's window, the share of the tools' definitions from which a person is told: one part in this many.
pub const TOOLS_SHARE: u64 = 3;
/// Characters of the title of a run.
pub const RUN_TITLE_CHARS: usize = 120;
/// Bytes of one entry of a run.
pub const RUN_ENTRY_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of an entry of a run that lies in the database; a larger one lies in a file of its own.
pub const RUN_ENTRY_INLINE_BYTES: usize = 128 * 1024;

/// Bytes of one text of an outcome in the journal; the rest is left out, with the digest of the whole.
pub const RECORD_TEXT_BYTES: usize = 16 * 1024;
/// Bytes of one text of a call's arguments in the journal.
pub const RECORD_ARGUMENT_BYTES: usize = 64 * 1024;
/// Bytes of text of one record in the journal.
pub const RECORD_BYTES: usize = 1024 * 1024;
/// Values of one JSON document in the journal.
pub const RECORD_NODES: usize = 100_000;
/// Parts, notices or bounds of one outcome in the journal.
pub const RECORD_PARTS: usize = 256;
/// Changes of one outcome in the journal.
pub const RECORD_CHANGES: usize = 10_000;
/// Calls of one listing of the journal, where nothing else is asked for.
pub const LOG_CALLS: u32 = 50;
/// Calls of one listing of the journal at most.
pub const LOG_CALLS_MAX: u32 = 10_000;
/// Bytes of the arguments of one call that a listing of the journal has whole.
pub const LOG_ARGUMENTS_BYTES: u32 = 4_096;
/// Runs that a listing shows where nothing is said.
pub const LOG_RUNS: u32 = 50;
/// Runs that a listing shows at most.
pub const LOG_RUNS_MAX: u32 = 10_000;

/// Rules of one policy.
pub const RULES: usize = 1_000;
/// Patterns of one kind in one rule.
pub const RULE_PATTERNS: usize = 100;
/// Bytes of one pattern of a rule.
pub const RULE_PATTERN_BYTES: usize = 1_024;
/// Parts between slashes in one pattern of a rule.
pub const RULE_PATTERN_PARTS: usize = 64;
/// Alternatives that the braces of one pattern of a rule may give.
pub const RULE_PATTERN_ALTERNATIVES: usize = 64;
/// Tokens that one pattern of a rule may hold once its braces are multiplied out: characters, wildcards, ends of ranges.
pub const RULE_PATTERN_TOKENS: usize = 4_096;
/// Tokens that the patterns of all rules of one policy may hold once their braces are multiplied out.
pub const RULES_PATTERN_TOKENS: usize = 256 * 1024;
/// Bytes of the reason a rule gives.
pub const RULE_REASON_BYTES: usize = 500;
/// Bytes of one command text that is taken apart; a longer one is not clear.
pub const COMMAND_BYTES: usize = 32 * 1024;
/// Characters of one command text that separate, redirect or group; one with more is not clear.
pub const COMMAND_OPERATORS: usize = 1_000;
/// Commands of one text, those that other commands run included.
pub const COMMANDS: usize = 250;
/// Levels of nesting in one command text.
pub const COMMAND_DEPTH: usize = 32;
/// Patterns of protected names in one configuration file.
pub const PROTECTION_PATTERNS: usize = 1_000;
/// Further roots in one configuration file.
pub const FURTHER_ROOTS: usize = 32;
/// Variables that programs get beside the usual ones, as a configuration names them.
pub const PROGRAM_VARIABLES: usize = 200;
/// Paths that programs may read beside those of the system, as a configuration names them.
pub const PROGRAM_PATHS: usize = 64;
/// Bytes of one configuration file.
pub const CONFIG_BYTES: usize = 256 * 1024;

/// Tools on one page of a list that a client of our MCP server gets.
pub const MCP_PAGE: usize = 100;
/// Bytes of one message of the Model Context Protocol.
pub const MCP_LINE_BYTES: usize = 16 * 1024 * 1024;
/// Calls of one MCP connection at one time.
pub const MCP_CALLS_AT_ONCE: usize = 256;
/// Milliseconds that the calls of an MCP client that is gone have to end.
pub const MCP_FAREWELL_MS: u64 = 1_200;
/// Connections to an MCP server over HTTP at one time.
pub const MCP_CONNECTIONS: usize = 256;
/// Sessions of an MCP server over HTTP at one time.
pub const MCP_SESSIONS: usize = 64;
/// Milliseconds after which a session over HTTP that nobody uses is closed.
pub const MCP_SESSION_IDLE_MS: u64 = 30 * 60 * 1_000;

/// Milliseconds a connection to a model's server may take to stand.
pub const CONNECT_MS: u64 = 15_000;
/// Milliseconds a model may take before the first piece of its reply.
pub const REPLY_FIRST_MS: u64 = 10 * 60 * 1_000;
/// Milliseconds a model may take between two pieces of its reply.
pub const REPLY_PAUSE_MS: u64 = 5 * 60 * 1_000;
/// Milliseconds after the end of a reply in which its token counts may still come.
pub const REPLY_LAST_WORDS_MS: u64 = 3_000;
/// Bytes of one event in the stream of a reply.
pub const REPLY_EVENT_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of the stream of a reply that say nothing, between two that do; more than one event has.
pub const REPLY_UNSAID_BYTES: usize = 2 * REPLY_EVENT_BYTES;
/// Bytes of the text, reasoning and arguments of one reply.
pub const REPLY_BYTES: usize = 32 * 1024 * 1024;
/// Calls of one reply; what has more is no reply of a model.
pub const REPLY_CALLS: usize = 1_000;
/// Bytes read of an answer that is an error, a list of models or facts about one.
pub const ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// Milliseconds a server on this machine has to answer when it is looked for.
pub const DISCOVERY_MS: u64 = 700;

/// Requests to the model in one turn, where nothing else is set.
pub const RUN_STEPS: NonZeroU64 = NonZeroU64::new(50).unwrap();
/// Times the same call may end in the same way before the model is told.
pub const REPEATED_CALLS_TOLD: u32 = 3;
/// Times the same call may end in the same way before the turn is stopped.
pub const REPEATED_CALLS_STOP: u32 = 8;
/// Times calls of one tool may fail in the same words before the model is told.
pub const REPEATED_FAILURES_TOLD: u32 = 4;
/// Times calls of one tool may fail in the same words before the turn is stopped.
pub const REPEATED_FAILURES_STOP: u32 = 12;
/// Times calls of one tool that differ in numbers only may end in the same way before the model is told.
pub const SIMILAR_CALLS_TOLD: u32 = 6;
/// Times calls of one tool that differ in numbers only may end in the same way before the turn is stopped.
pub const SIMILAR_CALLS_STOP: u32 = 16;
/// Steps in a row of which every call may fail before the model is told.
pub const FAILED_STEPS_TOLD: u32 = 5;
/// Steps in a row of which every call may fail before the turn is stopped.
pub const FAILED_STEPS_STOP: u32 = 10;
/// Replies in a row that may be cut off before the turn is stopped.
pub const CUT_REPLIES: u32 = 3;
/// Replies in a row that may be empty before the turn is stopped.
pub const EMPTY_REPLIES: u32 = 1;
/// Bytes of a provider's id of a call; a longer one is replaced.
pub const PROVIDER_ID_BYTES: usize = 64;
/// Times a request is made again with a lower cap on its reply, because both do not fit into the window.
pub const SHORTER_REPLIES: u32 = 3;
/// Tokens of a reply at least, where its cap is lowered.
pub const SHORTEST_REPLY_TOKENS: u32 = 256;
/// Times a model is asked again for a value that does not fit its schema.
pub const PARSE_REPAIRS: u32 = 3;
/// Bytes of text in which a value is looked for.
pub const PARSE_BYTES: usize = 1024 * 1024;
/// Bytes shown to a model of what is wrong with its value.
pub const PARSE_PROBLEM_BYTES: usize = 2_000;
/// Rounds of calls that `react` makes, where nothing else is said.
pub const REACT_ROUNDS: u32 = 8;
/// Levels of subagents below a run.
pub const SUBAGENT_DEPTH: u32 = 2;
/// Requests of one subagent, where nothing is said.
pub const SUBAGENT_STEPS: u32 = 20;
/// Requests of one subagent at most.
pub const SUBAGENT_STEPS_MAX: u32 = 50;
/// Bytes of a subagent's report.
pub const SUBAGENT_TEXT_BYTES: usize = 16 * 1024;
/// Milliseconds a subagent may work.
pub const SUBAGENT_MS: u64 = 60 * 60 * 1_000;

/// Bytes of the project's instructions that a model is shown of one file; the rest is named.
pub const INSTRUCTIONS_BYTES: usize = 32 * 1024;
/// Bytes of the project's instructions of all roots together.
pub const INSTRUCTIONS_BYTES_ALL: usize = 64 * 1024;
/// Tokens of a model's window that are left for its reply.
pub const REPLY_ROOM_TOKENS: u64 = 1_024;
/// Percent of a model's window that may be taken before older messages are summarised.
pub const WINDOW_PERCENT: u64 = 80;
/// Percent of a model's window that may be taken after older messages were summarised, where that is possible.
pub const SUMMARISED_PERCENT: u64 = 50;
/// Steps that stay as they are when older messages are summarised, where there is room for them.
pub const KEPT_STEPS: usize = 3;
/// Tokens of a summary; a smaller window has room for less.
pub const SUMMARY_TOKENS: u64 = 2_048;
/// Tokens of a summary that there has to be room for.
pub const SUMMARY_TOKENS_MIN: u64 = 256;
/// Bytes of one text that a summary is made of; the rest is left out from its middle, and named.
pub const SUMMARISED_TEXT_BYTES: usize = 4 * 1024;
/// Paths of changes that a summary names.
pub const SUMMARY_PATHS: usize = 50;
/// Bytes of what was asked last that a summary holds word for word.
pub const SUMMARY_ASKED_BYTES: usize = 4 * 1024;
/// Summaries in a row that may not help before no more are made.
pub const USELESS_SUMMARIES: u32 = 2;
/// Tokens by which a prompt has to grow before a count that does not grow with it means something.
pub const PINNED_TOKENS: u64 = 2_000;
/// What part of such a growth has to be counted at least: one in this many.
pub const PINNED_SHARE: u64 = 8;
